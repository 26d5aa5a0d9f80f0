"""What core says about the audits that the tests of app and browser look at; each is computed once a test run."""

from functools import cache

from core.datasets import build_dataset, demo_table
from core.datasets.splits import split
from core.models import PRIVATE_METHODS
from core.studies.correction import audit_key, run
from core.studies.subject import AuditConfig, subject_of, train_model
from pages.shell import state

_findings = {}


def run_once(config, report=None, *, dataset):
    """Run an audit like `core.studies.correction.run`, or return what it found when another test ran it."""
    key = audit_key(config, dataset)
    if key not in _findings:
        _findings[key] = run(config, report, dataset=dataset)
    return _findings[key]


@cache
def demo():
    table = demo_table()
    return build_dataset(table, table.roles[0])


def config_of(changes):
    names = ("method", "metric", "tolerance", "train_share", "seed")
    settings = {name: state.default(name) for name in names} | changes
    if settings["method"] in PRIVATE_METHODS:
        settings.setdefault("epsilon", state.default("epsilon"))
    return AuditConfig(dataset="demo", roles=demo().roles, **settings)


@cache
def subject(**changes):
    """Return the demo's model alone, with the pages' default settings but for these changes."""
    return subject_of(config_of(changes), demo())


def audit(**changes):
    """Return the findings of the demo, with the pages' default settings but for these changes."""
    return run_once(config_of(changes), dataset=demo())


@cache
def model(**changes):
    """Return what is found about the audited model alone, of its audit where there was one."""
    config = config_of(changes)
    cached = _findings.get(audit_key(config, demo()))
    if cached is not None:
        return cached.model
    return train_model(config, demo(), split(demo(), train_share=config.train_share, seed=config.seed))
