#!/usr/bin/env bash
# A gate for any CI system. Reads FILE, LABEL, SCORE (one per line), CONDITIONS (one per line), OPTIONS (one word per
# line) and UNDECIDED (fail or warn) from the environment, runs cutline check and appends its Markdown to SUMMARY.
# Exit status: that of cutline check (0 pass, 3 fail, 4 undecided, 2 bad input); with UNDECIDED=warn, 4 becomes 0.
set -u
summary=${SUMMARY:-${GITHUB_STEP_SUMMARY:-/dev/stdout}}
words=()
while IFS= read -r line; do
    [ -n "$line" ] && words+=(--score "$line")
done <<< "${SCORE:?set SCORE}"
while IFS= read -r line; do
    [ -n "$line" ] && words+=("$line")
done <<< "${OPTIONS:-}"
while IFS= read -r line; do
    case $line in
        '' | '#'*) ;;
        *) words+=("$line") ;;
    esac
done <<< "${CONDITIONS:?set CONDITIONS, one condition per line}"
text=$(cutline check "${FILE:?set FILE}" --label "${LABEL:?set LABEL}" --format markdown "${words[@]}")
status=$?
case $status in
    0) verdict=pass ;;
    3) verdict=fail ;;
    4) verdict=undecided ;;
    *) exit "$status" ;; # cutline has told on standard error what is wrong
esac
printf '### Model check: %s\n\n%s\n' "$verdict" "$text" >> "$summary"
[ -n "${GITHUB_OUTPUT:-}" ] && echo "verdict=$verdict" >> "$GITHUB_OUTPUT"
if [ "$status" -eq 4 ] && [ "${UNDECIDED:-fail}" = warn ]; then
    echo "undecided: the interval contains the limit; more cases would tell" >&2
    exit 0
fi
exit "$status"
