/// A name as SQL: always in quotes, so that no word of the language and no capital letter is taken for something else. A name
/// with that of its schema (``QualifiedName``) becomes two of them.
package func quotedName(_ name: String) -> String {
    guard name.contains(QualifiedName.separator) else { return quotedPart(name) }
    return name.split(separator: QualifiedName.separator, maxSplits: 1, omittingEmptySubsequences: false)
        .map { quotedPart(String($0)) }.joined(separator: ".")
}

private func quotedPart(_ name: String) -> String {
    // The server ends a name at a zero byte, and no name has one.
    "\"" + name.filter { $0 != "\0" && $0 != QualifiedName.separator }.replacing("\"", with: "\"\"") + "\""
}

/// The name of a table together with that of its schema, as one text. So a statement says itself where its tables are, and depends on
/// nothing that was set for the session.
package enum QualifiedName {
    /// A character that no other name has.
    static let separator: Character = "\u{1F}"

    /// A text without what separates two names.
    package static func part(_ name: String) -> String { name.filter { $0 != separator } }

    package static func make(schema: String, name: String) -> String { "\(part(schema))\(separator)\(part(name))" }

    /// The name of the schema.
    package static func schema(_ qualified: String) -> String {
        qualified.firstIndex(of: separator).map { String(qualified[..<$0]) } ?? ""
    }

    /// The name without its schema.
    package static func name(_ qualified: String) -> String {
        qualified.firstIndex(of: separator).map { String(qualified[qualified.index(after: $0)...]) } ?? qualified
    }
}

/// A text as SQL, for the few places that take no parameters.
package func quotedText(_ text: String) -> String {
    let plain = text.filter { $0 != "\0" }.replacing("'", with: "''")
    guard plain.contains("\\") else { return "'\(plain)'" }
    return " E'\(plain.replacing("\\", with: "\\\\"))'"
}
