import CoreDataModel
import Foundation

/// What a database says of a row that would have the same unique values as another one, in the model's names. Pure.
package struct UniqueViolation: Equatable {
    package let entity: String
    package let properties: [String]

    /// Reads a sentence of SQLite's: `UNIQUE constraint failed: ZCAR.ZMAKER, ZCAR.ZPLATE`. Fails for columns that are
    /// no properties of one entity, and for an index on expressions.
    package init?(sqlite sentence: String, _ schema: SQLSchema) {
        let columns =
            sentence.split(separator: ": ").last?.split(separator: ", ").map { $0.split(separator: ".") } ?? []
        guard let table = columns.first?.first, columns.allSatisfy({ $0.count == 2 && $0[0] == table }) else {
            return nil
        }
        self.init(columns.map { String($0[1]) }, schema) { $0 == table }
    }

    /// Reads a detail of PostgreSQL's, in which columns stand before values in each language: `Key (maker,
    /// plate)=(Tesla, B-1) already exists.` Fails as for SQLite.
    ///
    /// - Parameters:
    ///   - detail: the server's detail.
    ///   - schema: the schema that has the table.
    ///   - isTable: whether a mapping's table is the one that the server names.
    package init?(postgres detail: String, _ schema: SQLSchema, isTable: (String) -> Bool) {
        guard let end = detail.range(of: ")=("), let begin = detail[..<end.lowerBound].firstIndex(of: "(") else {
            return nil
        }
        let names = detail[detail.index(after: begin)..<end.lowerBound]
        self.init(names.split(separator: ", ").map(String.init), schema, isTable: isTable)
    }

    private init?(_ columns: [String], _ schema: SQLSchema, isTable: (String) -> Bool) {
        // Subentities have the columns of their parent, whose constraint it is.
        let mappings = schema.mappings.compactMap { $0 }.filter { isTable($0.table) }
        for mapping in mappings.sorted(by: { $0.numbers.count > $1.numbers.count }) {
            let stored = mapping.storedColumns
            let found = columns.compactMap { name in stored.first { $0.name == name }?.property }
            guard found.count == columns.count else { continue }
            (entity, properties) = (mapping.layout.name, found)
            return
        }
        return nil
    }

    /// `two objects of “Car” with the same maker, plate`
    package var description: String { "two objects of “\(entity)” with the same \(properties.joined(separator: ", "))" }
}

extension StoreError {
    /// The error of a batch request after which two objects would have the same unique values.
    ///
    /// - Parameters:
    ///   - violation: what the database says, if it names properties.
    ///   - work: the work with the store's name, for the message: `update “books.sqlite”`.
    ///   - reason: the database's own words.
    ///   - url: the location of the store.
    ///   - underlying: the database's error.
    ///   - userInfo: what else the error says.
    /// - Returns: an `NSManagedObjectConstraintMergeError`.
    package static func sameUniqueValues(
        _ violation: UniqueViolation?, _ work: String, reason: String, url: URL?, underlying: (any Error)? = nil,
        userInfo: [String: Any] = [:]
    ) -> NSError {
        var info = userInfo
        if let violation { (info[entityKey], info[propertiesKey]) = (violation.entity, violation.properties) }
        return make(
            CoreDataErrorCode.managedObjectConstraintMerge,
            "Cannot \(work): there would be \(violation?.description ?? "two objects with the same unique values") "
                + "(\(reason)); nothing was changed.", url: url,
            suggestion: "For an insertion, set the context's mergePolicy to one that says which object wins.",
            underlying: underlying, userInfo: info)
    }
}
