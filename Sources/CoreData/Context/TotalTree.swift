/// Parts at places, and the total of all of them in the order of the places.
///
/// The totals of two neighbours, of two such pairs, and so on, are kept, so that a part that changes costs as many
/// steps as the number of parts has binary digits, also where no part can be subtracted from a total, as from the
/// greatest.
struct TotalTree<Part> {
    /// The parts, then the totals of pairs, up to a single one; nil where there is nothing.
    private var levels: [[Part?]] = [[]]

    /// Nil if no place has a part.
    var total: Part? { levels.last?.first ?? nil }

    /// Sets or removes parts.
    ///
    /// - Parameters:
    ///   - parts: places and their parts, nil for none. A place is a known one, or the next one.
    ///   - combine: the total of a part and of a later one.
    mutating func set(_ parts: [(place: Int, part: Part?)], _ combine: (Part, Part) -> Part) {
        var changed: [Int] = []
        for (place, part) in parts {
            if place == levels[0].count {
                levels[0].append(part)
            } else if part == nil, levels[0][place] == nil {
                continue
            } else {
                levels[0][place] = part
            }
            changed.append(place)
        }
        changed.sort()
        // Level by level, so that many parts make the total of what they have in common once.
        var level = 0
        while !changed.isEmpty, levels[level].count > 1 {
            var above: [Int] = []
            if level + 1 == levels.count { levels.append([]) }
            for place in changed where above.last != place / 2 {
                let left = levels[level][place & ~1]
                let right = place | 1 < levels[level].count ? levels[level][place | 1] : nil
                let total = if let left, let right { combine(left, right) } else { left ?? right }
                above.append(place / 2)
                if place / 2 < levels[level + 1].count {
                    levels[level + 1][place / 2] = total
                } else {
                    levels[level + 1].append(total)
                }
            }
            changed = above
            level += 1
        }
    }
}
