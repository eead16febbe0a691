"""What the driver says of its figures: a ratio of times needs a quiet machine."""
import unittest

import driver
from rows import ROWS, Figure, Row


def result_of(figure, quiet, busy, error=""):
    """Ours 2, the peer 4, in so many pairs of each kind."""
    pair = ({"a": 2.0}, {"a": 4.0})
    return driver.Result(Row("row", "Row", ours=None, figures=[figure]), [pair] * quiet, [pair] * busy, [], error)


def line(figure, quiet, busy, error=""):
    return driver.figure_line(figure, result_of(figure, quiet, busy, error), 5)


class FigureLines(unittest.TestCase):
    def test_on_a_quiet_machine_a_ratio_is_met_or_missed(self):
        self.assertEqual(line(Figure("time", "a", "a", "s", at_most=0.54), 5, 2), ("2 s", "4 s", "0.500", "at most 0.54", "met"))
        self.assertEqual(line(Figure("time", "a", "a", "s", at_most=0.4), 5, 2), ("2 s", "4 s", "0.500", "at most 0.4", "missed"))

    def test_on_a_busy_machine_there_is_no_ratio(self):
        for quiet, busy in ((0, 5), (4, 9)):
            figures = line(Figure("time", "a", "a", "s", at_most=0.54), quiet, busy)
            self.assertEqual(figures, ("2 s (busy)", "4 s (busy)", "-", "at most 0.54", "machine busy"))
        self.assertEqual(line(Figure("time", "a", "a", "s"), 0, 3)[2:], ("-", "-", "machine busy"))

    def test_memory_and_counts_do_not_depend_on_it(self):
        self.assertEqual(line(Figure("memory", "a", "a", "MiB", at_most=0.7, timed=False), 0, 3), ("2 MiB", "4 MiB", "0.500", "at most 0.7", "met"))

    def test_ours_alone_holds_on_a_busy_machine_or_is_not_settled(self):
        self.assertEqual(line(Figure("time", "a", unit="s", at_most=3), 0, 3), ("2 s (busy)", "-", "-", "at most 3 s", "met"))
        self.assertEqual(line(Figure("time", "a", unit="s", at_most=1), 0, 3), ("2 s (busy)", "-", "-", "at most 1 s", "not settled"))

    def test_a_row_that_failed_says_why(self):
        self.assertEqual(line(Figure("time", "a", "a"), 0, 0, "not built: x")[4], "not built: x")
        self.assertEqual(line(Figure("time", "b", "a"), 5, 0)[4], "no b in the output")


class Rows(unittest.TestCase):
    def test_each_has_a_name_of_its_own_and_a_peer_where_its_figures_need_one(self):
        self.assertEqual(len({row.name for row in ROWS}), len(ROWS))
        for row in ROWS:
            self.assertTrue(row.peer or not any(figure.peer for figure in row.figures), row.name)


if __name__ == "__main__":
    unittest.main()
