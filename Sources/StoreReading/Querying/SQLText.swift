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
