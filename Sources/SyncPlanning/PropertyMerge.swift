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

/// Merges two edits of one list of distinct members. Pure.
///
/// What either side removed is gone. Members that a side inserted or moved form runs; a run stays together and follows
/// the member that it followed on its side. At one place the other side's run comes first. Each member is there once;
/// a member that both moved is where this side put it.
package enum ListMerge {
    /// - Parameters:
    ///   - old: the list that both sides began with; empty if there was none.
    ///   - mine: the list as this side left it.
    ///   - theirs: the list as it is on the server.
    /// - Returns: theirs, with the edits that lead from old to mine. It takes time for each member of the three lists.
    package static func merge<Member: Hashable>(old: [Member], mine: [Member], theirs: [Member]) -> [Member] {
        if mine == theirs || mine == old { return theirs }
        if theirs == old { return mine }
        let oldMembers = Set(old)
        let myMembers = Set(mine)
        let theirMembers = Set(theirs)
        let stayedHere = unmoved(in: mine, from: old)
        let stayedThere = unmoved(in: theirs, from: old)

        // My runs, by the member that each follows: one that I did not move and that they still have.
        var firstRun: [Member] = []
        var runs: [Member: [Member]] = [:]
        var anchor: Member?
        for member in mine {
            if stayedHere.contains(member) {
                if theirMembers.contains(member) { anchor = member }
            } else if !oldMembers.contains(member) || theirMembers.contains(member) {
                if let anchor { runs[anchor, default: []].append(member) } else { firstRun.append(member) }
            }
        }

        var result: [Member] = []
        result.reserveCapacity(theirs.count + mine.count)
        // A run waits until theirs at the same place has ended.
        var waiting = firstRun
        for member in theirs {
            let isRemoved = oldMembers.contains(member) && !myMembers.contains(member)
            let isMoved = myMembers.contains(member) && !stayedHere.contains(member)
            if stayedThere.contains(member) {
                result += waiting
                waiting = []
            }
            if isRemoved || isMoved { continue }
            result.append(member)
            if let run = runs[member] { waiting += run }
        }
        result += waiting
        return result
    }

    /// The members of a list that have kept their order since it was another list: the longest increasing sequence of
    /// their former places.
    private static func unmoved<Member: Hashable>(in list: [Member], from old: [Member]) -> Set<Member> {
        var places: [Member: Int] = [:]
        for (place, member) in old.enumerated() { places[member] = place }
        let kept = list.compactMap { member in places[member].map { (member, $0) } }
        // The last members of the best sequences by length, and what comes before each member.
        var ends: [Int] = []
        var before: [Int?] = []
        for (index, item) in kept.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if kept[ends[middle]].1 < item.1 { low = middle + 1 } else { high = middle }
            }
            before.append(low == 0 ? nil : ends[low - 1])
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: Set<Member> = []
        var next = ends.last
        while let index = next {
            result.insert(kept[index].0)
            next = before[index]
        }
        return result
    }
}
