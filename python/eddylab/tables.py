"""Rows as a table: pandas where it is installed, plain dictionaries elsewhere."""

try:
    import pandas
except ImportError:  # the tables are lists then
    pandas = None


def table(columns, rows):
    """`rows` have a value for each column."""
    if pandas is not None:
        return pandas.DataFrame.from_records(rows, columns=columns)
    return [dict(zip(columns, row)) for row in rows]


def table_of_records(records):
    """Of dictionaries, whose keys may differ: what one has not is None. Columns are in the order of first sight."""
    columns = list(dict.fromkeys(key for record in records for key in record))
    return table(columns, [[record.get(column) for column in columns] for record in records])
