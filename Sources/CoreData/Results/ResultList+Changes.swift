import Foundation

/// The elements affected by a change.
struct ResultBatch<Element: Hashable> {
    /// Elements that no longer belong to the results.
    var leaving: [Element] = []
    /// Elements that still belong to the results, with values that may differ.
    var touched: [Element] = []
    /// Elements that belong to the results now.
    var arriving: [Element] = []

    var isEmpty: Bool { leaving.isEmpty && touched.isEmpty && arriving.isEmpty }
}

extension ResultList {
    /// Updates the list.
    ///
    /// Elements outside the batch are unchanged and in order, so that places among them are found by binary search. The
    /// work grows with the batch, with the number of sections, and with the square root of the list's size.
    ///
    /// - Parameters:
    ///   - batch: the elements that left, changed and arrived.
    ///   - sectionName: the name of the section of an element.
    ///   - order: compares elements by the sort descriptors.
    /// - Returns: the changes, in the form that delegates get them.
    mutating func apply(
        _ batch: ResultBatch<Element>, sectionName: (Element) -> String,
        order: (Element, Element) -> ComparisonResult
    ) -> ResultChanges<Element> {
        let oldSections = sections
        var changes = ResultChanges<Element>()
        let leaving = located(batch.leaving)
        let touched = located(batch.touched)
        let kept = staying(touched, leaving, sectionName, order)
        let movers = touched.filter { !kept.contains($0.element) }
        for located in leaving { remove(located.element) }
        for located in movers { remove(located.element) }
        // If a section is needed again, it is inserted where its elements belong then.
        if isSectioned { sections.removeAll { $0.count == 0 } }
        for located in movers { insertInOrder(located.element, sectionName, order) }
        let arriving = batch.arriving.filter { !entries.contains($0) }
        let sorted = arriving.enumerated().sorted { first, second in
            switch order(first.element, second.element) {
            case .orderedAscending: true
            case .orderedDescending: false
            case .orderedSame: first.offset < second.offset
            }
        }
        for (_, element) in sorted { insertInOrder(element, sectionName, order) }

        noteSections(oldSections, in: &changes)
        changes.deletes = leaving.reversed().map { .init(element: $0.element, old: $0.place, new: nil) }
        changes.inserts = sorted.map { .init(element: $0.element, old: nil, new: place(of: $0.element)) }
        changes.inserts = changes.inserts.sorted { Self.precedes($0.new, $1.new) }
        for located in touched {
            let change = ResultChanges<Element>.ElementChange(
                element: located.element, old: located.place, new: place(of: located.element))
            if kept.contains(located.element) { changes.updates.append(change) } else { changes.moves.append(change) }
        }
        changes.moves = changes.moves.sorted { Self.precedes($0.new, $1.new) }
        changes.updates = changes.updates.sorted { Self.precedes($0.new, $1.new) }
        return changes
    }

    private struct Located {
        let element: Element
        let position: Int
        let place: ResultPlace
    }

    /// The elements that the list has, by position.
    private func located(_ elements: [Element]) -> [Located] {
        elements.compactMap { element in
            guard let position = entries.position(of: element), let place = place(of: element) else { return nil }
            return Located(element: element, position: position, place: place)
        }.sorted { $0.position < $1.position }
    }

    private static func precedes(_ first: ResultPlace?, _ second: ResultPlace?) -> Bool {
        guard let first, let second else { return false }
        return (first.section, first.row) < (second.section, second.row)
    }

    /// The changed elements that can stay where they are: they fit between their unchanged neighbours, and are the
    /// largest such set that is in order.
    private func staying(
        _ touched: [Located], _ leaving: [Located], _ sectionName: (Element) -> String,
        _ order: (Element, Element) -> ComparisonResult
    ) -> Set<Element> {
        guard !touched.isEmpty else { return [] }
        let gone = Set(leaving.map(\.element))
        let affected = (touched + leaving).sorted { $0.position < $1.position }
        var kept: Set<Element> = []
        var start = 0
        while start < affected.count {
            // A run of affected neighbours. It may go on over the ends of sections, which may change places, too.
            var end = start + 1
            while end < affected.count, affected[end].position == affected[end - 1].position + 1 { end += 1 }
            let (first, last) = (affected[start].position, affected[end - 1].position)
            let before = first > 0 ? entries[first - 1] : nil
            let after = last < entries.count - 1 ? entries[last + 1] : nil
            let fitting = affected[start..<end].filter { located in
                guard !gone.contains(located.element) else { return false }
                if isSectioned, sectionName(located.element) != sections[located.place.section].name { return false }
                if let before, order(before, located.element) == .orderedDescending { return false }
                if let after, order(located.element, after) == .orderedDescending { return false }
                return true
            }
            let sorted = fitting.sorted { left, right in
                switch order(left.element, right.element) {
                case .orderedAscending: true
                case .orderedDescending: false
                case .orderedSame: left.position < right.position
                }
            }
            for index in longestRise(of: sorted.map(\.position)) { kept.insert(sorted[index].element) }
            start = end
        }
        return kept
    }

    /// Inserts an element at its place: after elements that are equal to it.
    private mutating func insertInOrder(
        _ element: Element, _ sectionName: (Element) -> String, _ order: (Element, Element) -> ComparisonResult
    ) {
        let position = end(of: element, in: 0..<entries.count, order)
        guard isSectioned else { return insert(element, at: ResultPlace(section: 0, row: position)) }
        let name = sectionName(element)
        // It belongs to the section of the element before it or to the next one, where the sections are in order.
        var (index, start) = (0, 0)
        while index < sections.count, start + sections[index].count < position {
            start += sections[index].count
            index += 1
        }
        if index < sections.count, sections[index].name == name {
            return insert(element, at: ResultPlace(section: index, row: position - start))
        }
        if index + 1 < sections.count, start + sections[index].count == position, sections[index + 1].name == name {
            return insert(element, at: ResultPlace(section: index + 1, row: 0))
        }
        if let known = sections.firstIndex(where: { $0.name == name }) {
            let start = self.start(of: known)
            let row = end(of: element, in: start..<start + sections[known].count, order) - start
            return insert(element, at: ResultPlace(section: known, row: row))
        }
        addSection(name, at: position == 0 ? 0 : index + 1)
        insert(element, at: ResultPlace(section: position == 0 ? 0 : index + 1, row: 0))
    }

    /// The position after the elements of a range that do not come after an element.
    private func end(
        of element: Element, in range: Range<Int>, _ order: (Element, Element) -> ComparisonResult
    ) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if order(entries[middle], element) == .orderedDescending { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Records which sections were inserted and deleted. One that was emptied and filled again counts as unchanged,
    /// unless its position among the others changed.
    private mutating func noteSections(_ old: [Section], in changes: inout ResultChanges<Element>) {
        guard isSectioned else { return }
        // Most changes leave most sections as they are: the others are between those at the beginning and at the end.
        let start = zip(old, sections).prefix { $0.number == $1.number }.count
        let same = zip(old[start...].reversed(), sections[start...].reversed()).prefix { $0.number == $1.number }.count
        let (former, present) = (start..<old.count - same, start..<sections.count - same)
        let oldIndex = Dictionary(former.map { (old[$0].number, $0) }, uniquingKeysWith: { first, _ in first })
        let oldByName = Dictionary(former.map { (old[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        // The smallest old index of a section that was never empty, at or after each index.
        var bounds = [Int](repeating: former.upperBound, count: present.count + 1)
        for index in present.reversed() {
            bounds[index - start] = min(bounds[index - start + 1], oldIndex[sections[index].number] ?? old.count)
        }
        var last = start - 1
        for index in present {
            let section = sections[index]
            if let position = oldIndex[section.number] {
                last = position
            } else if let position = oldByName[section.name], position > last, position < bounds[index - start + 1] {
                sections[index] = Section(number: old[position].number, name: section.name, count: section.count)
                last = position
            }
        }
        let numbers = Set(sections[present].map(\.number))
        for index in former.reversed() where !numbers.contains(old[index].number) {
            changes.deletedSections.append(.init(index: index, number: old[index].number, name: old[index].name))
        }
        for index in present where oldIndex[sections[index].number] == nil {
            let section = sections[index]
            changes.insertedSections.append(.init(index: index, number: section.number, name: section.name))
        }
    }
}

/// The indexes of a longest increasing subsequence; of several, the one with the smallest last element.
func longestRise(of numbers: [Int]) -> [Int] {
    var tails: [Int] = []
    var previous = [Int?](repeating: nil, count: numbers.count)
    for (index, number) in numbers.enumerated() {
        var low = 0
        var high = tails.count
        while low < high {
            let middle = (low + high) / 2
            if numbers[tails[middle]] < number { low = middle + 1 } else { high = middle }
        }
        previous[index] = low > 0 ? tails[low - 1] : nil
        if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var result: [Int] = []
    var next = tails.last
    while let index = next {
        result.append(index)
        next = previous[index]
    }
    return result.reversed()
}
