#!/bin/sh
# Check the scores of a holdout sample against limits.txt. Exit status: 0 all kept, 3 one is broken, 4 the data cannot tell.
set -eu
here=$(dirname "$0")
scores=${1:-scores/holdout.csv}
set --
while IFS= read -r line; do
    case $line in
        '' | '#'*) ;;
        *) set -- "$@" "$line" ;;
    esac
done < "$here/limits.txt"
exec cutline check "$scores" --label completed --score network --seed 0 "$@"
