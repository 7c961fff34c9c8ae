"""What is mutated is there, and what is called equivalent is still in the code."""

from __future__ import annotations

from mutation.mutate import EQUIVALENT, ROOT, TARGETS, Sample, change_of, equivalent_changes


def test_a_target_has_files_and_tests_and_every_file_is_in_one_alone() -> None:
    assert all(target.files() for target in TARGETS)
    files = [file for target in TARGETS for file in target.files()]
    assert len(files) == len(set(files))
    for path in (*files, *(test for target in TARGETS for test in target.tests)):
        assert (ROOT / path).exists(), path


def test_equivalent_mutants_are_of_lines_that_are_still_there() -> None:
    files = {file for target in TARGETS for file in target.files()}
    for file, line, mutant in equivalent_changes():
        assert file in files, f"{EQUIVALENT.name}: {file} is not mutated"
        text = "\n".join(part.strip() for part in (ROOT / file).read_text(encoding="utf-8").splitlines())
        assert line in text, f"{EQUIVALENT.name}: {file} has no line {line!r}"
        assert mutant != line


def test_a_sample_is_the_same_each_time_and_of_the_wanted_size() -> None:
    mutants = [f"m{number}" for number in range(50)]
    for size in (0, 1, 49):
        sample = Sample(size, 3).of(mutants)
        assert sample == Sample(size, 3).of(mutants)
        assert len(set(sample).intersection(mutants)) == len(sample) == size
    assert Sample(50, 0).of(mutants) == Sample(None, 0).of(mutants) == mutants
    assert Sample(20, 0).of(mutants) != Sample(20, 1).of(mutants)


def test_a_change_is_read_from_its_diff_without_indentation_and_context() -> None:
    diff = "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n def f():\n-    return 1\n+    return 2\n "
    assert change_of("a.py", diff) == ("a.py", "return 1", "return 2")
