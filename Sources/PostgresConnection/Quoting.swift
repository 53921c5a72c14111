/// A name as SQL: always in quotes, so that no word of the language and no capital letter is taken for something else.
package func quotedName(_ name: String) -> String {
    // The server ends a name at a zero byte, and no name has one.
    "\"" + name.filter { $0 != "\0" }.replacing("\"", with: "\"\"") + "\""
}

/// A text as SQL, for the few places that take no parameters.
package func quotedText(_ text: String) -> String {
    let plain = text.filter { $0 != "\0" }.replacing("'", with: "''")
    guard plain.contains("\\") else { return "'\(plain)'" }
    return " E'\(plain.replacing("\\", with: "\\\\"))'"
}
