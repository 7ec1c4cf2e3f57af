"""Arrow columns that share their values with a larger one get values of their own.

Rows taken from a column have buffers of their own, save where the type refers to values by
place: a dictionary comes along whole, and so does all that the lists of a view point into.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_VIEWS = {
    pa.types.is_list_view: (pa.ListViewArray, np.int32),
    pa.types.is_large_list_view: (pa.LargeListViewArray, np.int64),
}
_LISTS = {
    pa.types.is_list: (pa.ListArray, np.int32),
    pa.types.is_large_list: (pa.LargeListArray, np.int64),
}


def compacted(table: pa.Table) -> pa.Table:
    """Return the table with no more values than its rows need.

    Examples
    --------
    >>> words = pa.array(["a" * 1000, "b"]).dictionary_encode()
    >>> taken = pa.table({"word": words}).take(pa.array([1]))
    >>> taken.nbytes > 1000, compacted(taken).nbytes < 100
    (True, True)
    >>> compacted(taken).to_pydict() == taken.to_pydict()
    True
    """
    for index, field in enumerate(table.schema):
        if _shares(field.type):
            column = table.column(index).combine_chunks()
            table = table.set_column(index, field, _own(column))
    return table


def _shares(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind) or any(is_view(kind) for is_view in _VIEWS):
        return True
    if pa.types.is_map(kind):
        return False
    return any(_shares(kind.field(i).type) for i in range(kind.num_fields))


def _own(array: Any) -> Any:
    kind = array.type
    if not _shares(kind):
        return array
    if pa.types.is_dictionary(kind):
        # To the type of the words alone; a null in the dictionary becomes a null of the rows.
        try:
            words = array.dictionary_decode().dictionary_encode()
        except pa.ArrowNotImplementedError:  # a dictionary of lists, say
            return array
        places = words.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(places, words.dictionary, ordered=kind.ordered)
    if pa.types.is_struct(kind):
        parts = [_own(part) for part in array.flatten()]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null())
    for is_kind, (made, number) in (_VIEWS | _LISTS).items():
        if is_kind(kind):
            sizes = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
            ends = np.cumsum(sizes, dtype=number)
            values = _own(pc.list_flatten(array))
            mask = array.is_null()
            if is_kind in _VIEWS:
                begins = pa.array(ends - sizes.astype(number))
                lengths = pa.array(sizes.astype(number))
                return made.from_arrays(begins, lengths, values, type=kind, mask=mask)
            offsets = pa.array(np.concatenate([np.zeros(1, number), ends]))
            return made.from_arrays(offsets, values, type=kind, mask=mask)
    return array
