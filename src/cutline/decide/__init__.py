"""From measures to decisions: cuts, selections, plans, stages, votes, recommendations."""
