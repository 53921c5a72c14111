/// The declarations of a table's columns, from the statement that created the table. Pure.
enum ColumnDeclarations {
    /// - Parameter creation: a `CREATE TABLE` statement that SQLite has accepted.
    /// - Returns: the text after each column's name, without comments, by names in capitals: `INTEGER NOT NULL DEFAULT
    ///   7`.
    static func read(_ creation: String) -> [String: String] {
        var declarations: [String: String] = [:]
        for part in parts(creation) {
            guard let (name, rest) = divided(part) else { continue }
            declarations[name.uppercased()] = rest
        }
        return declarations
    }

    /// What is between the outer parentheses, divided at its commas.
    private static func parts(_ creation: String) -> [String] {
        var parts: [String] = []
        var (part, depth) = ("", 0)
        var rest = Substring(creation)
        while let first = rest.first {
            let token = token(at: rest)
            rest = rest.dropFirst(token.count)
            if token.count > 1, token.hasPrefix("--") || token.hasPrefix("/*") {
                part += " "
                continue
            }
            switch first {
            case "(":
                depth += 1
                if depth > 1 { part += token }
            case ")":
                depth -= 1
                if depth == 0 { return parts + [part] }
                part += token
            case "," where depth == 1:
                parts.append(part)
                part = ""
            default: if depth > 0 { part += token }
            }
        }
        return parts
    }

    /// A quoted name or text, a comment, or one character.
    private static func token(at rest: Substring) -> Substring {
        func through(_ end: String, from start: Int) -> Substring {
            let body = rest.dropFirst(start)
            guard let range = body.firstRange(of: end) else { return rest }
            return rest[..<range.upperBound]
        }
        switch rest.first {
        case "'", "\"", "`":
            // A doubled quote is the end of one text and the beginning of another one, which does no harm here.
            return through(String(rest.prefix(1)), from: 1)
        case "[": return through("]", from: 1)
        case "-" where rest.hasPrefix("--"): return through("\n", from: 2)
        case "/" where rest.hasPrefix("/*"): return through("*/", from: 2)
        default: return rest.prefix(1)
        }
    }

    /// The name of a column and its declaration.
    private static func divided(_ part: String) -> (name: String, rest: String)? {
        let text = part.drop(while: \.isWhitespace)
        guard let first = text.first else { return nil }
        var name = ""
        var rest = text
        if "'\"`[".contains(first) {
            let end: Character = first == "[" ? "]" : first
            rest = text.dropFirst()
            while let next = rest.first {
                rest = rest.dropFirst()
                if next == end {
                    guard first != "[", rest.first == end else { break }
                    rest = rest.dropFirst()
                }
                name.append(next)
            }
        } else {
            name = String(text.prefix { !$0.isWhitespace && $0 != "(" })
            rest = text.dropFirst(name.count)
        }
        let trimmed = rest.drop(while: \.isWhitespace)
        let length = trimmed.lastIndex { !$0.isWhitespace }.map { trimmed[...$0] }
        return (name, String(length ?? ""))
    }
}
