import CoreData
import PredicateFormat
import StoreEngine

/// A query as people type it: `Book where price > 10 and author.name beginswith "J" order by title desc, price limit 20
/// offset 40`. After the entity may be what its texts are searched for: `Book search whale* "white sea" where …`.
/// Numbers in place of objects: `count Book where …`, and of groups
/// `Book group by author.name: count, sum(price) having count > 3`. Pure.
package struct QueryText {
    /// A part of a text, and its position.
    package struct Part: Equatable {
        package let text: String
        package let offset: Int

        var range: Range<Int> { offset..<offset + text.count }
    }

    package struct Order: Equatable {
        package let key: Part
        package let isAscending: Bool
    }

    package let text: String
    package private(set) var entity: Part
    /// What the texts are searched for; nil for nothing.
    package private(set) var search: Part?
    package private(set) var filter: Part?
    /// Whether the objects are only counted.
    package private(set) var isCount = false
    /// What stands between “group by” and the next clause; nil for objects.
    package private(set) var groups: Part?
    /// The condition on groups.
    package private(set) var having: Part?
    package private(set) var orders: [Order] = []
    /// Nil for all objects.
    package private(set) var limit: Int?
    package private(set) var offset = 0

    private enum Clause: String, CaseIterable {
        case `where`, group, having, order, limit, offset
    }

    /// Parses a query.
    ///
    /// - Throws: `TextProblem` that names the wrong part.
    package init(_ text: String) throws(TextProblem) {
        self.text = text
        if let problem = SQLText.problem(text) { throw problem }
        let (counted, isCount) = Self.withoutCount(text)
        self.isCount = isCount
        let (rest, search) = Self.withoutSearch(counted)
        self.search = search
        let words = Words(rest).words
        guard let first = words.first, !first.isQuoted, first.text.first?.isLetter == true || first.text.first == "_"
        else {
            throw TextProblem(text, words.first?.range ?? 0..<0, "a query begins with the name of an entity")
        }
        entity = Part(text: first.text, offset: first.range.lowerBound)
        let starts = Self.starts(words)
        guard let next = words.dropFirst().first else { return }
        guard starts.first?.index == 1 else {
            throw TextProblem(
                text, next.range,
                "“search”, “where”, “group by”, “order by”, “limit” or “offset” was expected after the entity",
                suggestions: TextProblem.near(
                    next.text, among: ["search", "where", "group", "order", "limit", "offset"]))
        }
        var seen: Set<Clause> = []
        for (position, start) in starts.enumerated() {
            guard seen.insert(start.clause).inserted else {
                throw TextProblem(text, words[start.index].range, "“\(start.clause.rawValue)” is there twice")
            }
            let end = position + 1 < starts.count ? starts[position + 1].index : words.count
            try read(start.clause, words[start.index], Array(words[(start.index + 1)..<end]))
        }
        if isCount, let groups {
            throw TextProblem(
                text, groups.range, "“count” before the entity counts all objects; groups count by “: count”")
        }
        if isCount, let order = orders.first {
            throw TextProblem(text, order.key.range, "the number of objects is one, and has no order")
        }
    }

    /// A query with blanks in place of a “count” before the entity. An entity may have that name.
    private static func withoutCount(_ text: String) -> (rest: String, isCount: Bool) {
        let words = Words(text).words
        guard words.count > 1, words[0].text.lowercased() == "count", !words[1].isQuoted,
            words[1].text.first?.isLetter == true || words[1].text.first == "_",
            words[1].text.lowercased() != "search", Clause(rawValue: words[1].text.lowercased()) == nil
        else { return (text, false) }
        let end = words[0].range.upperBound
        return (String(repeating: " ", count: end) + text.dropFirst(end), true)
    }

    /// A query with blanks in place of what is searched for, which is not a language: it reaches to the next clause
    /// outside of double quotation marks.
    private static func withoutSearch(_ text: String) -> (rest: String, search: Part?) {
        var characters = Array(text)
        let words = Words(text).words
        guard words.count > 1, !words[1].isQuoted, words[1].text.lowercased() == "search" else { return (text, nil) }
        let start = words[1].range.upperBound
        var pieces: [Range<Int>] = []
        var position = start
        while position < characters.count {
            while position < characters.count, characters[position].isWhitespace { position += 1 }
            let first = position
            var isQuoted = false
            while position < characters.count, isQuoted || !characters[position].isWhitespace {
                if characters[position] == "\"" { isQuoted.toggle() }
                position += 1
            }
            if first < position { pieces.append(first..<position) }
        }
        func word(_ index: Int) -> String {
            pieces.indices.contains(index) ? String(characters[pieces[index]]).lowercased() : ""
        }
        let next = pieces.indices.first { index in
            switch Clause(rawValue: word(index)) {
            case .where: true
            case .order, .group: word(index + 1) == "by"
            case .having: false
            case .limit, .offset: Int(word(index + 1)) != nil
            case nil: false
            }
        }
        let end = next.map { pieces[$0].lowerBound } ?? characters.count
        let part = Part(text: String(characters[start..<end]), offset: start)
        for index in words[1].range.lowerBound..<end where !characters[index].isWhitespace { characters[index] = " " }
        return (String(characters), part)
    }

    /// The beginnings of clauses: words outside quotation marks and brackets, in the order of the language.
    private static func starts(_ words: [Words.Word]) -> [(clause: Clause, index: Int)] {
        var found: [(Clause, Int)] = []
        var depth = 0
        for (index, word) in words.enumerated().dropFirst() where !word.isQuoted {
            if ["(", "{", "["].contains(word.text) { depth += 1 }
            if [")", "}", "]"].contains(word.text) { depth -= 1 }
            guard depth == 0, let clause = Clause(rawValue: word.text.lowercased()) else { continue }
            // A property may have the name of a keyword: it begins a clause only where a clause may begin.
            if clause == .order || clause == .group, words.indices.contains(index + 1),
                words[index + 1].text.lowercased() != "by"
            {
                continue
            }
            if clause == .having, found.last?.0 != .group { continue }
            if clause == .limit || clause == .offset, index > 1, index + 1 < words.count,
                Int(words[index + 1].text) == nil
            {
                continue
            }
            if clause == .where, index != 1 { continue }
            found.append((clause, index))
        }
        return found
    }

    private mutating func read(_ clause: Clause, _ start: Words.Word, _ words: [Words.Word]) throws(TextProblem) {
        func part(_ words: ArraySlice<Words.Word>, _ name: String) throws(TextProblem) -> Part {
            guard let first = words.first, let last = words.last else {
                throw TextProblem(text, start.range, "\(name) is missing after “\(start.text)”")
            }
            return part(first.range.lowerBound..<last.range.upperBound)
        }
        func part(_ range: Range<Int>) -> Part {
            Part(text: String(Array(text)[range]), offset: range.lowerBound)
        }
        switch clause {
        case .where: filter = try part(words[...], "a condition")
        case .group: groups = try part(words.dropFirst(), "a property")
        case .having: having = try part(words[...], "a condition")
        case .order where groups != nil:
            orders = try GroupText.terms(Array(words.dropFirst())).map { term throws(TextProblem) in
                guard let first = term.first, let last = term.last else {
                    throw TextProblem(text, start.range, "a column is missing in “order by”")
                }
                let direction = term.count > 1 ? GroupText.isAscending(last.text) : nil
                let end = direction == nil ? last : term[term.endIndex - 2]
                return Order(
                    key: part(first.range.lowerBound..<end.range.upperBound), isAscending: direction ?? true)
            }
        case .order: try readOrder(start, Array(words.dropFirst()))
        case .limit: limit = try number(start, words)
        case .offset: offset = try number(start, words)
        }
    }

    private mutating func readOrder(_ start: Words.Word, _ words: [Words.Word]) throws(TextProblem) {
        for term in words.split(omittingEmptySubsequences: false, whereSeparator: { $0.text == "," }) {
            guard let key = term.first else { throw TextProblem(text, start.range, "a key is missing in “order by”") }
            var isAscending = true
            if let direction = term.dropFirst().first {
                guard let given = GroupText.isAscending(direction.text) else {
                    throw TextProblem(text, direction.range, "“asc”, “desc” or a comma was expected")
                }
                isAscending = given
            }
            if let extra = term.dropFirst(2).first { throw TextProblem(text, extra.range, "a comma was expected") }
            // As in conditions, a key that is a keyword may be marked with `#`.
            let path = key.text.split(separator: ".", omittingEmptySubsequences: false).map {
                $0.hasPrefix("#") ? $0.dropFirst() : $0
            }
            let offset = key.range.lowerBound + (key.text.hasPrefix("#") ? 1 : 0)
            orders.append(Order(key: Part(text: path.joined(separator: "."), offset: offset), isAscending: isAscending))
        }
    }

    private func number(_ start: Words.Word, _ words: [Words.Word]) throws(TextProblem) -> Int {
        guard let word = words.first else {
            throw TextProblem(text, start.range, "a number is missing after “\(start.text)”")
        }
        guard let number = Int(word.text), number >= 0, words.count == 1 else {
            throw TextProblem(text, word.range, "a number was expected after “\(start.text)”")
        }
        return number
    }

    // MARK: With a model

    /// The fetch of the objects. What is searched for is not part of it.
    ///
    /// - Parameters:
    ///   - layout: the store's model.
    ///   - sortsByKey: whether the engine can sort by the objects' keys.
    /// - Returns: the plan.
    /// - Throws: `TextProblem` for an unknown entity or key.
    package func plan(_ layout: ModelLayout, sortsByKey: Bool) throws(TextProblem) -> FetchPlan {
        guard let found = layout.entity(typed: entity.text) else {
            let isJoinTable = RawTables.isJoinTable(entity.text.uppercased())
            throw TextProblem(
                text, entity.offset..<entity.offset + entity.text.count,
                isJoinTable
                    ? "“\(entity.text)” is not an entity, but pairs of objects, which pippin dump shows"
                    : "there is no entity “\(entity.text)”",
                suggestions: TextProblem.near(entity.text, among: layout.entities.map(\.name)))
        }
        if let search, SearchQuery(search.text).isEmpty {
            throw TextProblem(
                text, search.offset..<search.offset + search.text.count,
                "a word to look for is missing after “search”, besides those that “-” excludes")
        }
        var plan = FetchPlan(entity: found)
        if let filter {
            do { plan.predicate = try FilterText.predicate(filter.text, of: found) } catch {
                throw error.within(text, at: filter.offset)
            }
        }
        for order in groups == nil ? orders : [] {
            let keys = order.key.text.split(separator: ".").map(String.init)
            if let problem = FilterText.problem(keys, order.key.text, found) {
                throw problem.within(text, at: order.key.offset)
            }
            let key = StoredNames.resolved(keys, in: found).joined(separator: ".")
            plan.sortDescriptors.append(NSSortDescriptor(key: key, ascending: order.isAscending))
        }
        if sortsByKey, groups == nil, !isCount {
            plan.sortDescriptors.append(NSSortDescriptor(key: "objectID", ascending: true))
        }
        // A fetch takes a limit of 0 for none.
        if limit == 0 { plan.predicate = NSPredicate(value: false) }
        (plan.limit, plan.offset) = (limit ?? 0, offset)
        return plan
    }
}

/// SQL that was typed where a query belongs, and the query that finds the same. Pure.
enum SQLText {
    private static let verbs: Set<String> = [
        "select", "insert", "update", "delete", "with", "pragma", "explain", "create", "alter", "drop",
    ]

    /// The problem of a text that is SQL; nil for any other text.
    static func problem(_ text: String) -> TextProblem? {
        let words = Words(text).words.filter { $0.text != ";" }
        guard let first = words.first, !first.isQuoted, verbs.contains(first.text.lowercased()),
            let second = words.dropFirst().first, !isClause(second)
        else { return nil }
        guard first.text.lowercased() == "select", let query = query(words, Array(text)) else {
            return TextProblem(
                text, first.range,
                "this is SQL; a query names an entity and a condition: Book where price > 10 order by title limit 20; “pippin sql” runs a SELECT"
            )
        }
        return TextProblem(text, first.range, "this is SQL; the query is: \(query)")
    }

    private static func isClause(_ word: Words.Word) -> Bool {
        ["where", "search", "order", "limit", "offset"].contains(word.text.lowercased())
    }

    /// The query for a `SELECT` of one table; nil if there is none that finds the same.
    private static func query(_ words: [Words.Word], _ text: [Character]) -> String? {
        guard let from = words.firstIndex(where: { !$0.isQuoted && $0.text.lowercased() == "from" }),
            words.indices.contains(from + 1)
        else { return nil }
        let entity =
            words[from + 1].isQuoted ? String(words[from + 1].text.dropFirst().dropLast()) : words[from + 1].text
        let rest = Array(words[(from + 2)...])
        let others = ["group", "having", "union", "join", "intersect", "except"]
        guard rest.first.map(isClause) ?? true,
            !rest.contains(where: { !$0.isQuoted && others.contains($0.text.lowercased()) })
        else { return nil }
        var query = entity + clauses(rest, text)
        let columns = words[1..<from].filter { $0.text != "," }
        let areNames = columns.allSatisfy { $0.text.first?.isLetter == true || $0.isQuoted }
        let commas = words[1..<from].count - columns.count
        if areNames, !columns.isEmpty, commas == columns.count - 1 {
            let names = columns.map { $0.isQuoted ? String($0.text.dropFirst().dropLast()) : $0.text }
            query += "; --columns \(names.joined(separator: ",")) shows only these columns"
        }
        return query
    }

    /// The clauses after the table, with the predicate language's words for those of SQL.
    private static func clauses(_ words: [Words.Word], _ text: [Character]) -> String {
        var result = ""
        var end = words.first?.range.lowerBound
        var index = 0
        while index < words.count {
            let word = words[index]
            let following = words[index...].dropFirst().prefix(2).map { $0.text.lowercased() }
            result += end.map { $0 < word.range.lowerBound ? " " : "" } ?? ""
            var used = 1
            switch (word.isQuoted ? "" : word.text.lowercased(), following.first, following.last) {
            case ("is", "not"?, "null"?): (result, used) = (result + "!= nil", 3)
            case ("is", "null"?, _): (result, used) = (result + "== nil", 2)
            case ("like", _, _):
                guard words.indices.contains(index + 1), words[index + 1].isQuoted else { fallthrough }
                let pattern = words[index + 1].text.map { $0 == "%" ? "*" : $0 == "_" ? "?" : $0 }
                (result, used) = (result + "like[c] \(String(pattern))", 2)
            default: result += word.text
            }
            index += used
            end = words[index - 1].range.upperBound
        }
        return result.isEmpty ? "" : " " + result
    }
}
