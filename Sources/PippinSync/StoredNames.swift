import StoreSession

// The planner has rows and changes of its own. In files that use both, those of a store have these names.
typealias StoredRow = Row
typealias StoredChange = RowChange
