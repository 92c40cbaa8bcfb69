"""OpenAI's API at `/v1`: chat completions, responses and models over the same runs. May import `http` and `service`."""
