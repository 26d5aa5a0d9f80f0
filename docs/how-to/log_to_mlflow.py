"""Log a report of FairLeak to MLflow: its files as artifacts, and each check's number as metrics.

It needs MLflow and nothing of FairLeak: run it in an environment of its own, as mlflow.md beside it says.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

FILES = ("report.json", "report.html", "summary.pdf")


def metrics_of(report: dict[str, Any]) -> dict[str, float]:
    """Return every number of the checks: "unfairness", its interval "unfairness.low", "unfairness.limit" and so on.

    Numbers are shares (0.05 for 5 points). What was not measured, or is withheld, is left out.
    """
    found: dict[str, Any] = {}
    for measured in report["measurements"]:
        name, estimate = measured["check"], measured["estimate"] or {}
        found |= {name: estimate.get("value"), f"{name}.low": estimate.get("low"), f"{name}.high": estimate.get("high")}
    for row in report["verdict"]["checks"]:
        if row["limit"] is not None:
            found[f"{row['check']}.limit"] = row["limit"]["value"]
            found[f"{row['check']}.passes"] = float(row["verdict"] == "pass")
    numbers = {name: float(value) for name, value in found.items() if value is not None}
    return {name: value for name, value in numbers.items() if math.isfinite(value)}


def tags_of(report: dict[str, Any]) -> dict[str, str]:
    """Return what a run is found by: verdict, fingerprint, edition, version, and what was audited."""
    return {
        "fairleak.verdict": report["verdict"]["overall"],
        "fairleak.fingerprint": report["fingerprint"],
        "fairleak.edition": report["edition"],
        "fairleak.version": report["provenance"]["fairleak"],
        "fairleak.attribute": report["data"]["attribute"],
        "fairleak.policy": f"{report['policy']['name']}, version {report['policy']['version']}",
    }


def main() -> None:
    """Log the report in a folder as one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="Folder of one edition, such as report/disclosure.")
    parser.add_argument("--store", default="sqlite:///mlflow.db", help="MLflow's tracking store.")
    parser.add_argument("--experiment", default="fairleak", help="MLflow's experiment.")
    arguments = parser.parse_args()
    report = json.loads((arguments.folder / "report.json").read_text(encoding="utf-8"))

    import mlflow

    mlflow.set_tracking_uri(arguments.store)
    mlflow.set_experiment(arguments.experiment)
    with mlflow.start_run(run_name=report["plan"]["title"] or report["data"]["title"]) as run:
        mlflow.set_tags(tags_of(report))
        mlflow.log_metrics(metrics_of(report))
        for name in FILES:
            if (arguments.folder / name).is_file():
                mlflow.log_artifact(str(arguments.folder / name), "fairleak")
    print(f"Run {run.info.run_id} in {arguments.store}.")


if __name__ == "__main__":
    main()
