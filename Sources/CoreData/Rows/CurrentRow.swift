/// One row of a fetch for as long as it is handed out: its values are read when they are asked for, by slot, so that what
/// nobody asks for is not read, and what is asked for goes nowhere in between.
///
/// The same object is each row in turn: whoever is handed one must not keep it.
package class CurrentRow {
    /// The value in a slot.
    package func value(at slot: Int) throws -> StoredValue { .null }

    // What is there without a `StoredValue` in between; nil for no value, and for one of another kind.

    package func string(at slot: Int) -> String? { nil }
    package func integer(at slot: Int) -> Int64? { nil }
    package func double(at slot: Int) -> Double? { nil }
    /// Seconds since 2001-01-01 00:00 UTC.
    package func date(at slot: Int) -> Double? { nil }
}

/// A row whose values were read before.
package final class ReadRow: CurrentRow {
    package var values: ContiguousArray<StoredValue> = []

    package override init() {}

    package override func value(at slot: Int) -> StoredValue { values[slot] }
}
