"""What watches reusewatch: rules for Prometheus, dashboards for Grafana, and a stack to try both.

`python -m deploy.watching` writes `deploy/prometheus`, `deploy/grafana` and the runbook in
`deploy/README.md` anew; a test keeps them current. Never part of what is installed.
"""
