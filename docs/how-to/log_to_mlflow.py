"""Log the public summary of an audit to MLflow: its files as artifacts, and each check's limit and verdict as metrics.

It needs MLflow and nothing of FairLeak: run it in an environment of its own, as mlflow.md beside it says.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

FILES = ("summary.json", "summary.html", "model-card.md")


def metrics_of(summary: dict[str, Any]) -> dict[str, float]:
    """Return the limit of each check, as a share (0.05 for 5 points), and whether it passes: 1 or 0.

    No number measured on people is among them, for a summary holds none.
    """
    metrics = {}
    for check in summary["checks"]:
        metrics[f"{check['check']}.limit"] = float(check["value"])
        metrics[f"{check['check']}.passes"] = float(check["verdict"] == "pass")
    return metrics


def tags_of(summary: dict[str, Any]) -> dict[str, str]:
    """Return what a run is found by: verdict, fingerprint, version, and what was audited."""
    return {
        "fairleak.verdict": summary["decision"]["verdict"],
        "fairleak.fingerprint": summary["fingerprint"],
        "fairleak.version": summary["fairleak"],
        "fairleak.attribute": summary["attribute"],
        "fairleak.policy": f"{summary['policy']['name']}, version {summary['policy']['version']}",
    }


def main() -> None:
    """Log the summary in a folder as one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="Folder of a public summary, such as report/public."
    )
    parser.add_argument("--store", default="sqlite:///mlflow.db", help="MLflow's tracking store.")
    parser.add_argument("--experiment", default="fairleak", help="MLflow's experiment.")
    arguments = parser.parse_args()
    summary = json.loads((arguments.folder / "summary.json").read_text(encoding="utf-8"))

    import mlflow

    mlflow.set_tracking_uri(arguments.store)
    mlflow.set_experiment(arguments.experiment)
    with mlflow.start_run(run_name=summary["title"] or summary["table"]["title"]) as run:
        mlflow.set_tags(tags_of(summary))
        mlflow.log_metrics(metrics_of(summary))
        for name in FILES:
            mlflow.log_artifact(str(arguments.folder / name), "fairleak")
    print(f"Run {run.info.run_id} in {arguments.store}.")


if __name__ == "__main__":
    main()
