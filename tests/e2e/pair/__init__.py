"""Two whole services of one PostgreSQL database under load, while parts of it fail: nothing is lost or done twice.

The tests that run before each change have a short round; `make soak` kills 200 times and has the database away for 30
seconds. SOAK_KILLS, SOAK_AWAY_SECONDS and SOAK_STOP_SECONDS are the numbers, SOAK_SEED begins another series.
"""
