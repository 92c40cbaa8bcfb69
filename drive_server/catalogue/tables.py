"""Sentences about tables, comparisons and documents in Office formats."""

from typing import Final

TABLES: Final[dict[str, tuple[str, str]]] = {
    "not_a_table": (
        "'{name}' is not a table that can be asked.",
        "“{name}”不是可以查询的表格。",
    ),
    "not_a_table.hint": ("Use a csv, tsv or xlsx file.", "请使用 csv、tsv 或 xlsx 文件。"),
    "table_file_too_large": ("The file is too large to be asked as a table.", "文件太大，无法作为表格查询。"),
    "table_file_too_large.hint": ("Split it into smaller files.", "请拆分为较小的文件。"),
    "table_too_large": (
        "The table has more than {rows:,} rows or {cells:,} cells.",
        "表格超过 {rows:,} 行或 {cells:,} 个单元格。",
    ),
    "table_too_large.hint": ("Split it into smaller files.", "请拆分为较小的文件。"),
    "table_too_slow": (
        "The table can't be answered within the limits of time and memory.",
        "无法在时间和内存限制内得出结果。",
    ),
    "table_too_slow.hint": ("Ask for less, or split the file.", "请缩小查询范围，或拆分文件。"),
    "only_as_whole": (
        "'{name}' can only be written as a whole, not edited in places.",
        "“{name}”只能整体改写，不能局部编辑。",
    ),
    "only_as_whole.hint": (
        "Read it, then write its whole content as Markdown with write_file; pictures and layout are lost.",
        "请先读取，再用 write_file 以 Markdown 写入全部内容；图片和版式会丢失。",
    ),
    "document_too_large": (
        "The text is too large for a document of this kind.",
        "文字太大，无法生成这种文档。",
    ),
    "document_too_large.hint": (
        "Use at most {limit:,} characters, or write a .md or .csv file.",
        "最多 {limit:,} 个字符，或改为写 .md、.csv 文件。",
    ),
    "table_damaged": ("The table can't be read; the file is damaged.", "无法读取表格，文件已损坏。"),
    "table_damaged.hint": ("Save it anew and upload it again.", "请重新保存后再上传。"),
    "table_locked": ("The table is protected by a password.", "表格有密码保护。"),
    "table_locked.hint": ("Upload it without the password.", "请去掉密码后再上传。"),
    "table_empty": ("The file has no rows.", "文件中没有数据行。"),
    "table_empty.hint": ("Choose another file.", "请选择其他文件。"),
    "table_no_column": (
        "There is no column '{name}'. The columns are: {columns}.",
        "没有“{name}”这一列。现有的列：{columns}。",
    ),
    "table_no_column.hint": ("Use one of these names.", "请使用其中的列名。"),
    "table_no_sheet": (
        "There is no sheet '{name}'. The sheets are: {sheets}.",
        "没有“{name}”这个工作表。现有的工作表：{sheets}。",
    ),
    "table_no_sheet.hint": ("Use one of these names.", "请使用其中的名称。"),
    "table_which_sheet": (
        "It is not clear which sheet is meant. The sheets with their columns are: {sheets}.",
        "不清楚指的是哪个工作表。各工作表及其列：{sheets}。",
    ),
    "table_which_sheet.hint": ("Name one in `sheet`.", "请在 `sheet` 中指定一个。"),
    "table_no_header": ("Row {row} is empty or not there.", "第 {row} 行为空或不存在。"),
    "table_no_header.hint": (
        "Leave `header_row` out to have the header found, or use 0 for none.",
        "省略 `header_row` 可自动识别表头；没有表头时用 0。",
    ),
    "table_values": (
        "The filter '{operator}' takes {number} value(s).",
        "筛选条件“{operator}”需要 {number} 个值。",
    ),
    "table_values.hint": (
        "Use `value` for one, `values` for several.",
        "一个值用 `value`，多个值用 `values`。",
    ),
    "table_needs_column": ("'{function}' needs a column.", "“{function}”需要指定一列。"),
    "table_needs_column.hint": ("Name the column to take.", "请指定要计算的列。"),
    "table_no_order": (
        "The column '{name}' holds text, which is not more or less than something.",
        "“{name}”列是文字，不能比较大小。",
    ),
    "table_no_order.hint": ("Use '=', 'in' or 'contains'.", "请使用 '='、'in' 或 'contains'。"),
    "table_value_number": (
        "The column '{name}' holds numbers, and '{value}' is none.",
        "“{name}”列是数字，而“{value}”不是数字。",
    ),
    "table_value_number.hint": ("Give a number such as 1234.50.", "请给出数字，例如 1234.50。"),
    "table_value_date": (
        "The column '{name}' holds dates, and '{value}' is none.",
        "“{name}”列是日期，而“{value}”不是日期。",
    ),
    "table_value_date.hint": (
        "Give a year, a month or a day: 2026, 2026-11, 2026-11-05.",
        "请给出年、月或日：2026、2026-11、2026-11-05。",
    ),
    "table_no_numbers": (
        "The column '{name}' holds no numbers; one of its cells is '{example}'.",
        "“{name}”列中没有数字，例如其中有“{example}”。",
    ),
    "table_no_numbers.hint": ("Choose a column of numbers.", "请选择数字列。"),
    "table_unreadable": (
        "{count} row{s} can't be read as numbers, so a total would be wrong: {cells}.",
        "有 {count} 行无法读成数字，合计会出错：{cells}。",
    ),
    "table_unreadable.hint": (
        "Filter these rows out, or pass `skip_unreadable`; the answer then says which rows it leaves out.",
        "请筛掉这些行，或传 `skip_unreadable`；结果会说明略去了哪些行。",
    ),
    "table_ambiguous": (
        "{count} row{s} can be read as two different numbers: {cells}.",
        "有 {count} 行的数字有两种读法：{cells}。",
    ),
    "table_ambiguous.hint": (
        "Pass `decimal_mark`: '.' if 1.234 is a little more than one, ',' if it is a thousand and more.",
        "请传 `decimal_mark`：若 1.234 表示一点多，用 '.'；若表示一千多，用 ','。",
    ),
    "table_errors": (
        "Some cells of the workbook are errors such as #DIV/0!, and its format does not let them be named.",
        "工作簿中有 #DIV/0! 之类的错误单元格，而这种格式无法指出是哪些。",
    ),
    "table_errors.hint": ("Correct them, or save it as xlsx.", "请改正它们，或另存为 xlsx。"),
    "table_not_calculated": (
        "{count} row{s} hold formulas that no program has calculated, so their values are not known: {cells}.",
        "有 {count} 行含有尚未计算的公式，其值未知：{cells}。",
    ),
    "table_not_calculated.hint": (
        "Open and save the workbook in a spreadsheet program, or pass `skip_unreadable` to leave these rows out.",
        "请用电子表格程序打开并保存此文件，或传 `skip_unreadable` 略去这些行。",
    ),
    "table_ragged": (
        "{count} row{s} can't be read; of some the cells go beyond the header: {cells}.",
        "有 {count} 行无法读取，其中有的行单元格超出表头：{cells}。",
    ),
    "table_ragged.hint": (
        "Put cells that hold the separator in quotation marks, or pass `skip_unreadable` to leave these rows out.",
        "请给含有分隔符的单元格加引号，或传 `skip_unreadable` 略去这些行。",
    ),
    "table_unreadable_dates": (
        "{count} row{s} can't be read as dates: {cells}.",
        "有 {count} 行无法读成日期：{cells}。",
    ),
    "table_unreadable_dates.hint": (
        "Filter these rows out, or pass `skip_unreadable`; the answer then says which rows it leaves out.",
        "请筛掉这些行，或传 `skip_unreadable`；结果会说明略去了哪些行。",
    ),
    "table_open_dates": (
        "It is open in {count} row{s} whether day or month comes first: {cells}.",
        "有 {count} 行无法判断日和月的先后：{cells}。",
    ),
    "table_open_dates.hint": (
        "Pass `date_order`: 'dmy' or 'mdy'.",
        "请传 `date_order`：'dmy' 或 'mdy'。",
    ),
    "table_units": (
        "The column '{name}' has different currencies or units, which can't be taken together: {units}.",
        "“{name}”列有不同的货币或单位，不能合在一起计算：{units}。",
    ),
    "table_units.hint": (
        "Filter by one of them ('contains'), or group by the column that names it.",
        "请按其中一种筛选（'contains'），或按标明货币的列分组。",
    ),
    "table_sort": (
        "It is not clear which result '{name}' names.",
        "不清楚“{name}”指的是哪一项结果。",
    ),
    "table_sort.hint": (
        "Sort by a result as it is named, such as sum(Amount).",
        "请用结果的名称排序，例如 sum(Amount)。",
    ),
}
