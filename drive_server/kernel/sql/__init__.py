"""SQL databases, whichever tables they have: transactions, turns of writers, migrations, failures as errors of ours."""
