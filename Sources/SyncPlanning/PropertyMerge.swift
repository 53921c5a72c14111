/// Merges two edits of one property. Pure.
package enum PropertyMerge {
    /// - Parameters:
    ///   - rule: the property's rule. With `.closure` this is what happens when the closure is not asked.
    ///   - old: the value that both sides began with; nil if both sides made the row.
    ///   - mine: the pushed value.
    ///   - theirs: the server's value.
    ///   - theyChanged: whether somebody else has changed the property since the pushing device saw it.
    ///   - mineIsLater: whether the pushed edit was made later than the server's, by the server's clock.
    /// - Returns: the value to keep.
    package static func merge(
        _ rule: MergeRule, old: SyncValue?, mine: SyncValue, theirs: SyncValue, theyChanged: Bool, mineIsLater: Bool
    ) -> SyncValue {
        if mine == theirs, rule != .sum { return theirs }
        switch rule {
        case .laterEdit, .closure: return theyChanged && !mineIsLater ? theirs : mine
        case .mine: return mine
        case .theirs: return theyChanged ? theirs : mine
        case .larger: return isLarger(mine, than: theirs) || !theyChanged ? mine : theirs
        case .sum:
            if let sum = sum(old: old, mine: mine, theirs: theirs) { return sum }
        case .union:
            if case .set(let myValues) = mine, case .set(let theirValues) = theirs {
                var oldValues: Set<SyncValue> = []
                if case .set(let values) = old { oldValues = values }
                return .set(
                    theirValues.subtracting(oldValues.subtracting(myValues)).union(myValues.subtracting(oldValues)))
            }
        case .list:
            if case .list(let myIDs) = mine, case .list(let theirIDs) = theirs {
                var oldIDs: [RowID] = []
                if case .list(let ids) = old { oldIDs = ids }
                return .list(ListMerge.merge(old: oldIDs, mine: myIDs, theirs: theirIDs))
            }
        }
        // A value that the rule does not fit, such as null: the later edit.
        return theyChanged && !mineIsLater ? theirs : mine
    }

    /// The server's number with this side's difference, or nil if one is not a number or the sum has no place in one.
    private static func sum(old: SyncValue?, mine: SyncValue, theirs: SyncValue) -> SyncValue? {
        switch (old ?? .null, mine, theirs) {
        case (.null, .integer(let mine), .integer(let theirs)):
            // Rows that both sides made: seeds of one value are one value.
            return .integer(max(mine, theirs))
        case (.integer(let old), .integer(let mine), .integer(let theirs)):
            let (difference, overflows) = mine.subtractingReportingOverflow(old)
            let (sum, overflowsToo) = theirs.addingReportingOverflow(difference)
            return overflows || overflowsToo ? nil : .integer(sum)
        case (.double(let old), .double(let mine), .double(let theirs)):
            return .double(ExactDouble(theirs.value + (mine.value - old.value)))
        default: return nil
        }
    }

    private static func isLarger(_ one: SyncValue, than other: SyncValue) -> Bool {
        switch (one, other) {
        case (_, .null): one != .null
        case (.integer(let one), .integer(let other)): one > other
        case (.double(let one), .double(let other)): one.value > other.value
        case (.date(let one), .date(let other)): one > other
        case (.text(let one), .text(let other)): other < one
        case (.bool(let one), .bool(let other)): one && !other
        default: false
        }
    }
}
