import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.observations.grouping import column_names, declared_categorical, plan_groups
from mixoracle.observations.input_columns import InputColumns

ODD_NAMES = st.text(
    st.one_of(st.sampled_from("[]0123\"',;:| äX€"), st.characters(exclude_categories=["Cc", "Cs"])),
    min_size=1,
    max_size=300,
).filter(lambda name: "\ufeff" not in name)


@given(st.dictionaries(ODD_NAMES, st.integers(1, 4), min_size=1, max_size=6))
def test_names_of_columns_and_of_variables_determine_each_other(widths):
    labels = column_names(list(widths), list(widths.values()))
    assert len(set(labels)) == len(labels)
    plan = plan_groups(InputColumns.named(labels))
    assert dict(zip(plan.names, plan.widths, strict=True)) == widths
    assert plan.order == tuple(range(len(labels)))


def test_width_one_is_written_under_the_plain_name():
    assert column_names(["a", "b", "c[0]"], [1, 2, 1]) == ("a", "b[0]", "b[1]", "c[0][0]")


def test_indexed_columns_group_in_index_order_wherever_they_stand():
    plan = plan_groups(InputColumns.named(["a[10]", "z", "a[2]", "b[0]"]))
    assert plan.names == ("a", "z", "b")
    assert plan.members == ((2, 0), (1,), (3,))


def test_leading_zeros_are_no_index():
    assert plan_groups(InputColumns.named(["a[00]", "a[0]"])).names == ("a[00]", "a")


@pytest.mark.parametrize("labels", [["a", "a[0]"], ["a[0]", "a"]])
def test_a_plain_name_beside_its_own_index_is_refused(labels):
    with pytest.raises(InvalidInputError, match="'a' stands beside columns 'a"):
        plan_groups(InputColumns.named(labels))


def test_columns_of_an_array_stand_alone():
    assert plan_groups(InputColumns(2)).names == ("X1", "X2")


def test_equal_widths():
    assert plan_groups(InputColumns(6), np.int64(3)).members == ((0, 1, 2), (3, 4, 5))
    assert plan_groups(InputColumns(3), 2, drop=1).members == ((0, 2),)


@pytest.mark.parametrize("width", [4, 0, -1, 7])
def test_widths_that_do_not_divide_are_refused(width):
    with pytest.raises(InvalidInputError, match=f"groups={width} should divide the 6 columns"):
        plan_groups(InputColumns(6), width)


def test_sequences_and_mappings_of_columns():
    assert plan_groups(InputColumns(3), [[2, 0], [1]]).members == ((2, 0), (1,))
    assert plan_groups(InputColumns(3), [np.array([2, 0]), 1]).members == ((2, 0), (1,))
    named = InputColumns.named(["ab", "c", "d"])
    plan = plan_groups(named, {"P": ["d", "ab"], "Q": "c"})
    assert (plan.names, plan.members) == (("P", "Q"), ((2, 0), (1,)))
    assert plan_groups(named, [["d", 0], "c"], names=["P", "Q"]) == plan


def test_integer_labels_of_a_frame_go_before_positions():
    columns = InputColumns.named([5, 1, 0])
    assert plan_groups(columns, [[0], [1], [5]]).order == (2, 1, 0)


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ([[0, 1]], "groups should list every column; 2 is in none: .* drop="),
        ([[0, 1], [1, 2]], "column 1 is listed in groups more than once"),
        ([[0, 0], [1, 2]], "column 0 is listed in groups more than once"),
        ([[0, 1, 2], []], "each observed variable needs a column; 'X2' has none"),
        ([[0, 1, 2, 3]], "groups names column 3, but columns are numbered 0 to 2"),
        ([[-1, 0, 1]], "groups names column -1"),
        ([["a"]], "names the column 'a', which is not there; columns of an array are named by"),
        ([[[0]], 1, 2], "groups should name columns by text or number"),
        ([None], "columns should be listed by name or number; got None"),
        ([[True], 1, 2], "names the column True"),
        ("abc", "groups should be a width, 'prefix', a function"),
        (2.5, "groups should be a width, 'prefix', a function"),
        (True, "groups should be a width, 'prefix', a function"),
        ({"": [0, 1, 2]}, "the name of an observed variable should be text"),
        ({1: [0, 1, 2]}, "the name of an observed variable should be text"),
    ],
)
def test_groups_that_cannot_be_meant_are_refused(groups, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        plan_groups(InputColumns(3), groups)


def test_unknown_columns_come_with_close_matches():
    columns = InputColumns.named(["pressure", "flow"])
    with pytest.raises(
        InvalidInputError, match="'presure', which is not there; did you mean 'pres"
    ):
        plan_groups(columns, {"P": ["presure"]})
    with pytest.raises(
        InvalidInputError, match="'zz', which is not there; there are 'pressure', 'f"
    ):
        plan_groups(columns, drop=["zz"])


def test_unlisted_columns_are_named():
    columns = InputColumns.named([f"c{i}" for i in range(9)])
    with pytest.raises(
        InvalidInputError, match="'c1', 'c2', 'c3', 'c4', 'c5' and 3 more is in none"
    ):
        plan_groups(columns, {"P": ["c0"]})
    assert plan_groups(columns, {"P": ["c0"]}, drop=[f"c{i}" for i in range(1, 9)]).order == (0,)


def test_a_column_in_groups_and_in_drop_is_refused():
    with pytest.raises(InvalidInputError, match="column 1 is in groups and in drop"):
        plan_groups(InputColumns(2), [[0], [1]], drop=[1])


def test_nothing_left_is_refused():
    with pytest.raises(InvalidInputError, match="at least one observed variable"):
        plan_groups(InputColumns(1), drop=[0])
    with pytest.raises(InvalidInputError, match="at least one observed variable"):
        plan_groups(InputColumns(0))


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a"], "one name for each of the 2 observed variables; got 1"),
        (["a", "a"], "distinct names; 'a' occurs more than once"),
        ("ab", "a sequence of strings; got one string"),
        (["a", "b\n"], "no control characters"),
    ],
)
def test_names_that_cannot_be_used_are_refused(names, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        plan_groups(InputColumns(2), None, names)


def test_repeated_labels_are_refused():
    with pytest.raises(InvalidInputError, match="columns should have distinct names; 'a' occurs"):
        InputColumns.named(["a", "b", "a"])
    with pytest.raises(InvalidInputError, match="distinct names; '1'"):
        InputColumns.named([1, "1"])


def test_categorical_by_label_number_column_and_variable():
    columns = InputColumns.named(["a", "b", "c"])
    plan = plan_groups(columns, {"P": ["c", "a"], "Q": ["b"]})
    for refs, expected in [
        ("a", {0}),
        ([2], {2}),
        (["P[1]"], {0}),
        (["P"], {0, 2}),
        (True, {0, 1, 2}),
        (False, set()),
        ((), set()),
    ]:
        assert declared_categorical(columns, plan, refs) == expected
    with pytest.raises(InvalidInputError, match="categorical names 'PP', which is not there"):
        declared_categorical(columns, plan, ["PP"])
    with pytest.raises(InvalidInputError, match="categorical names column 3"):
        declared_categorical(columns, plan, [3])


def test_names_that_begin_alike_are_a_group():
    columns = InputColumns.named(["blood_hb", "pulse", "blood_crp", "heart rate", "gene5"])
    plan = plan_groups(columns, "prefix")
    assert plan.names == ("blood", "pulse", "heart rate", "gene5")
    assert plan.members == ((0, 2), (1,), (3,), (4,))


def test_a_function_of_the_name_gives_the_group():
    columns = InputColumns.named(["hb", "crp", "pulse"])
    plan = plan_groups(columns, lambda name: None if name == "pulse" else "blood")
    assert dict(zip(plan.names, plan.members, strict=True)) == {"blood": (0, 1), "pulse": (2,)}


def test_columns_without_names_cannot_be_grouped_by_them():
    with pytest.raises(InvalidInputError, match="an array has none: give numbers of columns"):
        plan_groups(InputColumns(2), "prefix")
