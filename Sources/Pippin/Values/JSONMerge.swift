/// Merges a change of a value that is kept as JSON into the stored JSON, which may have members that the program's type
/// does not name: a newer program has written them.
///
/// It compares three values: what is stored, what the program's type knows of it (the stored JSON decoded and encoded
/// again), and what the program wants to store. What the program has changed is taken from the wanted value, and
/// everything else from the stored one: of an object each member by its key, of a list each element that
/// ``ElementMatching`` finds in both. Members and elements that the type does not know stay where they are, and go with
/// the object or the list that has them.
struct JSONMerge {
    /// The paths of what the wanted value would take away and cannot be kept, since its element cannot be matched:
    /// `[0].minutes`. The merged value is of no use then.
    private(set) var lost: [String] = []

    /// - Parameters:
    ///   - stored: what is stored.
    ///   - known: the same, as the program's type decodes and encodes it.
    ///   - wanted: what the program wants to store.
    ///   - path: the path to the value.
    /// - Returns: what is to be stored, unless something is ``lost``.
    mutating func merged(
        _ stored: JSONTree, _ known: JSONTree, _ wanted: JSONTree, at path: String = ""
    ) -> JSONTree {
        if known == wanted { return stored }
        switch (stored, known, wanted) {
        case (.object(let stored), .object(let known), .object(let wanted)):
            return .object(members(stored, known, wanted, path))
        case (.list(let stored), .list(let known), .list(let wanted)):
            // A dictionary whose keys are not texts is a list of keys and values by turns.
            if let stored = JSONTree.pairs(stored), let known = JSONTree.pairs(known),
                let wanted = JSONTree.pairs(wanted)
            {
                let merged = members(stored, known, wanted, path)
                let values = Self.values(merged)
                let keys = Set(wanted.map(\.key))
                return .list(
                    wanted.flatMap { [.leaf($0.text), values[$0.key] ?? $0.value] }
                        + merged.filter { !keys.contains($0.key) }.flatMap { [.leaf($0.text), $0.value] })
            }
            return .list(elements(stored, known, wanted, path))
        // The program has replaced the value by one of another kind.
        default: return wanted
        }
    }

    private mutating func members(
        _ stored: [JSONTree.Member], _ known: [JSONTree.Member], _ wanted: [JSONTree.Member], _ path: String
    ) -> [JSONTree.Member] {
        let (knownValues, wantedValues) = (Self.values(known), Self.values(wanted))
        var result: [JSONTree.Member] = []
        var keys: Set<[UInt8]> = []
        for var member in stored where keys.insert(member.key).inserted {
            switch (knownValues[member.key], wantedValues[member.key]) {
            case (let known?, let wanted?):
                member.value = merged(member.value, known, wanted, at: path.member(member.key))
            case (.some, nil): continue
            case (nil, let wanted?): member.value = wanted
            case (nil, nil): break
            }
            result.append(member)
        }
        return result + wanted.filter { !keys.contains($0.key) }
    }

    private static func values(_ members: [JSONTree.Member]) -> [[UInt8]: JSONTree] {
        Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
    }

    private mutating func elements(
        _ stored: [JSONTree], _ known: [JSONTree], _ wanted: [JSONTree], _ path: String
    ) -> [JSONTree] {
        guard let sources = StoredElements(stored, known) else {
            lost.append(path.isEmpty ? "its elements" : path)
            return wanted
        }
        var places: [[Int]] = Array(repeating: [], count: known.count)
        for (place, source) in sources.known.enumerated() { if let source { places[source].append(place) } }
        let names = known.indices.map { index in
            places[index].enumerated().flatMap { number, place in
                number > 0 ? [path.element(place)] : stored[place].unknown(to: known[index], at: path.element(place))
            }
        }
        let matching = ElementMatching(known, wanted) { index in
            names[index].isEmpty ? nil : places[index].map { stored[$0] }
        }
        lost += matching.unclear.flatMap { names[$0] }
        guard lost.isEmpty else { return wanted }
        var results: [[JSONTree]] = Array(repeating: [], count: known.count)
        for (index, wantedIndex) in matching.wanted.enumerated() {
            guard let wantedIndex else { continue }
            results[index] = places[index].map { place in
                merged(stored[place], known[index], wanted[wantedIndex], at: path.element(place))
            }
        }
        return sources.isInOrder
            ? inWantedOrder(stored, wanted, sources, matching, results)
            : inStoredOrder(stored, wanted, sources, matching, results)
    }

    /// The elements in the order in which the program wants them. Unknown ones stay behind the element that they
    /// follow.
    private func inWantedOrder(
        _ stored: [JSONTree], _ wanted: [JSONTree], _ sources: StoredElements, _ matching: ElementMatching,
        _ results: [[JSONTree]]
    ) -> [JSONTree] {
        // By wanted element; at -1 those before the first.
        var followers: [Int: [JSONTree]] = [:]
        var latest = -1
        for (place, source) in sources.known.enumerated() {
            if let source {
                latest = matching.wanted[source] ?? latest
            } else {
                followers[latest, default: []].append(stored[place])
            }
        }
        var known: [Int: Int] = [:]
        for (index, wantedIndex) in matching.wanted.enumerated() { if let wantedIndex { known[wantedIndex] = index } }
        return wanted.indices.reduce(into: followers[-1] ?? []) { list, index in
            list += known[index].map { results[$0] } ?? [wanted[index]]
            list += followers[index] ?? []
        }
    }

    /// The elements in the order in which they are stored, new ones after them: the program's type does not keep an
    /// order.
    private func inStoredOrder(
        _ stored: [JSONTree], _ wanted: [JSONTree], _ sources: StoredElements, _ matching: ElementMatching,
        _ results: [[JSONTree]]
    ) -> [JSONTree] {
        var counts = Array(repeating: 0, count: results.count)
        var list: [JSONTree] = []
        for (place, source) in sources.known.enumerated() {
            guard let source else {
                list.append(stored[place])
                continue
            }
            if matching.wanted[source] != nil { list.append(results[source][counts[source]]) }
            counts[source] += 1
        }
        let taken = Set(matching.wanted.compactMap(\.self))
        return list + wanted.indices.lazy.filter { !taken.contains($0) }.map { wanted[$0] }
    }
}

/// Which known element a type has made of each stored one.
private struct StoredElements {
    /// By stored element, the index of the known one; nil for an element that the type leaves out. Several stored
    /// elements may have become one, in a set.
    private(set) var known: [Int?]
    /// Whether the type keeps the stored order.
    var isInOrder: Bool {
        let indexes = known.compactMap(\.self)
        return zip(indexes, indexes.dropFirst()).allSatisfy(<)
    }

    /// Nil where that cannot be told.
    init?(_ stored: [JSONTree], _ known: [JSONTree]) {
        self.known = Array(known.indices)
        if stored.count == known.count, zip(stored, known).allSatisfy({ $0.becomes($1) }) { return }
        var uses = Array(repeating: 0, count: known.count)
        var next = 0
        let found: [Int?] = stored.map { element in
            let fits = { element.becomes(known[$0]) }
            let index =
                next < known.count && uses[next] == 0 && fits(next)
                ? next
                : known.indices.first { $0 > next && uses[$0] == 0 && fits($0) }
                    ?? known.indices.first { uses[$0] == 0 && fits($0) } ?? known.indices.first(where: fits)
            guard let index else { return nil }
            uses[index] += 1
            next = index + 1
            return index
        }
        guard !uses.contains(0) else {
            // The type gives its elements another form, one by one.
            guard stored.count == known.count else { return nil }
            return
        }
        self.known = found
        guard isInOrder || Self.areTold(apart: known, stored, found) else { return nil }
    }

    /// Whether known elements that are equal were made of stored ones that are equal, too.
    private static func areTold(apart known: [JSONTree], _ stored: [JSONTree], _ found: [Int?]) -> Bool {
        var origins: [[UInt8]: JSONTree] = [:]
        return zip(stored, found).allSatisfy { element, index in
            guard let index else { return true }
            let key = known[index].unorderedBytes
            defer { origins[key] = element }
            return origins[key].map { $0 == element } ?? true
        }
    }
}

extension JSONTree {
    /// The members of a list that has keys and values by turns, as a dictionary whose keys are not texts is encoded.
    ///
    /// - Parameter elements: the elements of a list.
    /// - Returns: the members; nil for a list that may be another one.
    fileprivate static func pairs(_ elements: [JSONTree]) -> [Member]? {
        guard elements.count.isMultiple(of: 2) else { return nil }
        var keys: Set<[UInt8]> = []
        var members: [Member] = []
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard let key = elements[index].leaf, elements[index + 1].leaf == nil, keys.insert(key).inserted else {
                return nil
            }
            members.append(Member(key: key, text: key, value: elements[index + 1]))
        }
        return members
    }

    /// Whether a type may have made a known value of this one: it is the same without some members.
    fileprivate func becomes(_ known: JSONTree) -> Bool {
        switch (self, known) {
        case (.leaf(let text), .leaf(let other)): return text == other || Self.areSame(text, other)
        case (.list(let elements), .list(let others)):
            return StoredElements(elements, others)?.known.allSatisfy { $0 != nil } ?? false
        case (.object(let members), .object(let others)):
            let shared = members.compactMap { member in known[member.key].map { (member.value, $0) } }
            return (!shared.isEmpty || others.isEmpty) && shared.allSatisfy { $0.becomes($1) }
        default: return false
        }
    }

    /// Whether two texts of leaves are of the same value: other programs write `1.0`, and slashes without a backslash.
    private static func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        if let text = unescaped(one), let other = unescaped(other) { return text == other }
        guard let number = Double(String(decoding: one, as: UTF8.self)) else { return false }
        return number == Double(String(decoding: other, as: UTF8.self))
    }

    /// The paths of what a known value, which was made of this one, does not have.
    ///
    /// - Parameters:
    ///   - known: the known value.
    ///   - path: the path to this value.
    /// - Returns: the paths; empty if the known value has everything.
    func unknown(to known: JSONTree, at path: String = "") -> [String] {
        switch (self, known) {
        case (.object(let members), .object):
            return members.flatMap { member in
                let path = path.member(member.key)
                if let value = known[member.key] { return member.value.unknown(to: value, at: path) }
                return member.value.isNull ? [] : [path]
            }
        case (.list(let elements), .list(let others)):
            guard let sources = StoredElements(elements, others) else { return [path.isEmpty ? "its elements" : path] }
            var taken: Set<Int> = []
            return zip(elements.indices, sources.known).flatMap { place, source in
                guard let source, taken.insert(source).inserted else { return [path.element(place)] }
                return elements[place].unknown(to: others[source], at: path.element(place))
            }
        default: return []
        }
    }
}

extension String {
    fileprivate func member(_ key: [UInt8]) -> String {
        let name = String(decoding: key, as: UTF8.self)
        return isEmpty ? name : "\(self).\(name)"
    }

    fileprivate func element(_ index: Int) -> String { "\(self)[\(index)]" }
}
