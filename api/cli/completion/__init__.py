"""`drive-agent completion`: print the scripts that complete command lines in bash, zsh and fish."""
