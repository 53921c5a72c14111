import CoreDataModel
import PredicateFormat

/// A statement that a person wrote, with the parts that only a store can fill in: names and values.
package struct WrittenSQL: Sendable {
    package enum Part: Sendable {
        /// SQL as it was written.
        case text(String)
        /// A value, which is bound.
        case value(Value)
        /// A Boolean, which is bound: some databases have a type for it.
        case boolean(Bool)
        /// The name of an entity's table.
        case table(EntityLayout)
        /// The name of the column with the key of an entity's rows.
        case key(EntityLayout)
        /// The name of a property's column: the property, or the elements that lead to it in a composite attribute.
        case column(EntityLayout, [String])
        /// The same for a date, as the database's functions for dates take it.
        case date(EntityLayout, [String])
        /// A condition that holds for the rows of an entity and of those that inherit from it, among others in their
        /// table.
        case isOf(EntityLayout)
        /// The pairs of a relationship that is kept in a table of its own, as a selection of two columns with names.
        case pairs(RelationshipLayout, source: String, destination: String)
    }

    package var parts: [Part]
    /// The statement as it was written, for errors; nil if that is all that is run.
    package var original: String?

    package init(_ parts: [Part], original: String? = nil) { (self.parts, self.original) = (parts, original) }
}

/// An engine that runs statements that people wrote.
package protocol SQLReadingEngine: StoreEngine {
    /// Runs a statement that only reads.
    ///
    /// - Parameters:
    ///   - sql: the statement.
    ///   - columns: receives the names of the columns, before the first row.
    ///   - row: receives a row, whose slots are the columns, and returns whether to go on. Values of types that the
    ///     database does not have are what it has for them: a date in SQLite is a number of seconds since 2001. The row
    ///     must not be kept, and has no object.
    /// - Throws: an `NSError` for a statement that is wrong, or does more than read; the errors of the closures.
    func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (any CurrentRow) throws -> Bool
    ) throws
}

extension WrittenSQL {
    /// The error for a statement that the database refuses.
    ///
    /// - Parameters:
    ///   - reason: the database's sentence, without a period.
    ///   - text: the statement as it was sent.
    ///   - position: the character at which the database found the error; nil if unknown.
    ///   - underlying: the database's error.
    /// - Returns: an error that quotes the statement from there on.
    package func error(
        _ reason: String, in text: String, at position: Int? = nil, underlying: (any Error)? = nil
    ) -> any Error {
        var rest = position.map { String(text.unicodeScalars.dropFirst(max(0, $0))) }
        if let original, let found = rest, !original.hasSuffix(found) { rest = nil }
        let quoted = rest ?? original ?? text
        let shown = quoted.count > 200 ? quoted.prefix(200) + "…" : quoted[...]
        return StoreError.make(
            CoreDataErrorCode.sqlite,
            "The statement cannot be run: \(reason), \(rest == nil ? "in" : "at") “\(shown)”.", underlying: underlying,
            userInfo: ["SQL": text])
    }
}
