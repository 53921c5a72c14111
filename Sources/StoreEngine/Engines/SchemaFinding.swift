import CoreDataModel
import Foundation

/// A property or entity whose place in an existing store is unknown.
package struct SchemaFinding: Sendable, Equatable, Hashable {
    package enum Problem: Sendable, Equatable, Hashable {
        /// There is no candidate.
        case missing
        /// There are several candidates, or one candidate for several properties.
        case ambiguous
    }

    /// The entity that declares the property; the root entity if its table is unknown.
    package let entity: String
    /// The property; for an element of a composite attribute, the composite; nil for the entity's table.
    package let property: String?
    /// The unknown column or table, by its name according to the rules: `ZCAR.ZMAKER`, or a table.
    package let expected: String
    /// Whether it is a table, rather than a column.
    package let isTable: Bool
    package let problem: Problem
    /// The candidates, sorted.
    package let candidates: [String]

    package init(
        entity: String, property: String?, expected: String, isTable: Bool, problem: Problem, candidates: [String]
    ) {
        (self.entity, self.property, self.expected, self.isTable, self.problem, self.candidates) = (
            entity, property, expected, isTable, problem, candidates
        )
    }

    /// The entity and property, as `Car.maker`.
    package var subject: String { property.map { "\(entity).\($0)" } ?? entity }

    /// The problem, following “the store has”: `no column ZCAR.ZMAKER, which “Car.maker” needs`.
    package var text: String {
        let kind = isTable ? "table" : "column"
        switch problem {
        case .missing: return "no \(kind) \(expected), which “\(subject)” needs"
        case .ambiguous:
            return "no \(kind) that is certainly that of “\(subject)”: it should be \(expected), and may be "
                + candidates.joined(separator: " or ")
        }
    }

    /// The error for a use that needs the unknown part.
    ///
    /// - Parameters:
    ///   - use: the attempted use, such as `“Car.maker” cannot be saved`; nil if a sentence about the store suffices.
    ///   - url: the location of the store.
    /// - Returns: the error, in the Cocoa domain.
    package func error(_ use: String? = nil, url: URL?) -> NSError {
        let store = url.map { " “\($0.lastPathComponent)”" } ?? ""
        let reason = "store\(store) has \(text)."
        return StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleSchema, use.map { "\($0): the \(reason)" } ?? "The \(reason)",
            url: url,
            suggestion:
                "Everything else of the store can be read. Restore the store from a backup, or give the \(isTable ? "table" : "column") "
                + "the name that it should have.")
    }
}
