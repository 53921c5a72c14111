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
