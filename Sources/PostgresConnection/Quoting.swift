/// A name as SQL: always in quotes, so that keywords and capital letters have no effect. A name qualified with its
/// schema (``QualifiedName``) becomes two quoted names.
package func quotedName(_ name: String) -> String {
    guard name.contains(QualifiedName.separator) else { return quotedPart(name) }
    return name.split(separator: QualifiedName.separator, maxSplits: 1, omittingEmptySubsequences: false)
        .map { quotedPart(String($0)) }.joined(separator: ".")
}

private func quotedPart(_ name: String) -> String {
    // The server ends a name at a zero byte, so no name contains one.
    "\"" + doubled("\"", in: name.filter { $0 != "\0" && $0 != QualifiedName.separator }) + "\""
}

/// The name of a table together with that of its schema, as one text. A statement thereby names the schemas of its
/// tables itself, and does not depend on session settings.
package enum QualifiedName {
    /// A character that occurs in no other name.
    static let separator: Character = "\u{1F}"

    /// A text without the separator.
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

/// A text as an SQL literal, for the few places that take no parameters.
package func quotedText(_ text: String) -> String {
    let plain = doubled("'", in: text.filter { $0 != "\0" })
    guard plain.unicodeScalars.contains("\\") else { return "'\(plain)'" }
    return " E'\(doubled("\\", in: plain))'"
}

/// A text in which a mark is doubled, also before a combining character, with which it is one `Character`.
private func doubled(_ mark: Unicode.Scalar, in text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        result.append(scalar)
        if scalar == mark { result.append(scalar) }
    }
    return String(result)
}
