/// Parts at places, and the total of all of them in the order of the places.
///
/// The totals of two neighbours, of two such pairs, and so on, are kept, so that a part that changes costs as many steps
/// as the number of parts has binary digits, also where no part can be subtracted from a total, as from the greatest.
struct TotalTree<Part> {
    /// The parts, then the totals of pairs, up to a single one; nil where there is nothing.
    private var levels: [[Part?]] = [[]]

    /// The number of places.
    var count: Int { levels[0].count }
    /// Nil if no place has a part.
    var total: Part? { levels.last?.first ?? nil }

    /// Sets or removes a part.
    ///
    /// - Parameters:
    ///   - part: the part; nil for none.
    ///   - place: a known place, or the next one.
    ///   - combine: the total of a part and of a later one.
    mutating func set(_ part: Part?, at place: Int, _ combine: (Part, Part) -> Part) {
        if place == levels[0].count {
            levels[0].append(part)
        } else if part == nil, levels[0][place] == nil {
            return
        } else {
            levels[0][place] = part
        }
        var (level, place) = (0, place)
        while levels[level].count > 1 {
            place /= 2
            let left = levels[level][2 * place]
            let right = 2 * place + 1 < levels[level].count ? levels[level][2 * place + 1] : nil
            let total = if let left, let right { combine(left, right) } else { left ?? right }
            level += 1
            if level == levels.count { levels.append([]) }
            if place < levels[level].count { levels[level][place] = total } else { levels[level].append(total) }
        }
    }
}
