"""In which order files of tests run beside each other: what takes long first, so that only short ones are last."""

SECONDS = {
    "tests/verdicts/test_bank.py": 200,
    "tests/browser/test_screens.py": 260,
    "tests/browser/test_signin.py": 200,
    "tests/browser/test_labels.py": 160,
    "tests/browser/test_two_sessions.py": 100,
    "tests/browser/test_privacy.py": 90,
    "tests/reference/test_attriguard_ratings.py": 106,
    "tests/app/test_attriguard.py": 40,
    "tests/properties/test_attriguard_properties.py": 68,
    "tests/app/test_membership.py": 30,
    "tests/browser/test_report.py": 60,
    "tests/browser/test_walks.py": 130,
    "tests/hostile/test_files.py": 40,
    "tests/hostile/test_special_files.py": 60,
    "tests/unit/history/test_history.py": 30,
    "tests/reference/test_unknown_constraint_adult.py": 56,
    "tests/app/test_own_table.py": 40,
    "tests/reference/test_reveal_adult.py": 40,
    "tests/unit/correction/test_groups.py": 25,
    "tests/unit/test_command_line.py": 25,
    "tests/unit/release_audit/test_self_test.py": 25,
    "tests/properties/test_soft_properties.py": 44,
    "tests/unit/adversaries/test_adversaries.py": 15,
    "tests/app/test_bias_queries.py": 25,
    "tests/unit/desk/test_damage.py": 25,
    "tests/golden/test_golden.py": 31,
    "tests/app/test_desk.py": 20,
    "tests/app/test_input_cases.py": 20,
    "tests/app/test_models_page.py": 20,
    "tests/app/test_pages.py": 55,
    "tests/app/test_report.py": 30,
    "tests/hostile/test_full_disk.py": 20,
    "tests/unit/compare/test_changes.py": 30,
    "tests/browser/test_proxy.py": 25,
    "tests/golden/test_golden_pages.py": 25,
    "tests/unit/experiments/test_engine.py": 165,
    "tests/reference/test_correction_adult.py": 64,
    "tests/unit/release_audit/test_audit_command.py": 22,
    "tests/app/test_jobs.py": 20,
    "tests/reference/test_release_adult.py": 20,
    "tests/unit/test_experiment.py": 20,
    "tests/reference/test_panda_ratings.py": 19,
    "tests/reference/test_attriguard_adult.py": 18,
    "tests/unit/choose/test_choose.py": 35,
    "tests/unit/people/test_people_at_risk.py": 15,
    "tests/unit/test_hermetic.py": 20,
    "tests/unit/test_wheel.py": 15,
}
"""Files that take fifteen seconds of one core or more, and how many; properties with the budget of every run."""

UNKNOWN = 3
"""What any other file takes."""


def rank(file):
    """Return what files are sorted by: how long they take, then their names."""
    return -SECONDS.get(file, UNKNOWN), file
