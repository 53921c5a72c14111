import Foundation

/// Decides for a whole module which of two classes with one name is meant.
///
/// Foundation has an `NSExpression` and an `NSComparisonPredicate` off Apple's platforms too, which can be neither
/// created nor subclassed; ours have the same names. A module that imports both and names them needs an
/// alias.
package enum NameAliases {
    /// On Apple's platforms, UIKit, AppKit and SwiftUI re-export Core Data, as frameworks that use it do: files use it
    /// without importing it.
    private static let visibility = "@_exported public import CoreData\n\n"
    private static let names = ["NSComparisonPredicate", "NSExpression"]

    /// - Parameters:
    ///   - paths: the target's sources.
    ///   - isLibrary: whether other modules can see the target's public declarations, which may name the classes.
    /// - Returns: the text of the file with the aliases that the sources need.
    /// - Throws: when a source cannot be read.
    package static func source(paths: [String], isLibrary: Bool) throws -> String {
        var used: Set<String> = []
        for path in paths {
            let source = try SourceText(contentsOf: path)
            let text = source.text(0..<source.bytes.count)
            guard names.contains(where: text.contains) else { continue }
            let code = String(decoding: CodeMask.code(of: source.bytes), as: UTF8.self).identifiers
            used.formUnion(names.filter(code.contains))
        }
        let access = isLibrary ? "public " : ""
        return AccessorWriter.header + visibility
            + used.sorted().map { "\(access)typealias \($0) = CoreData.\($0)\n" }.joined()
    }
}

/// The names that are taken in classes that are generated.
package enum ReservedNames {
    /// The properties that every managed object has, and that a generated one would have to override.
    package static let properties: Set<String> = [
        "classForCoder", "classForKeyedArchiver", "debugDescription", "description", "entity", "faultingState",
        "hasChanges", "hasPersistentChangedValues", "hash", "hashValue", "isDeleted", "isFault", "isInserted",
        "isUpdated", "managedObjectContext", "missingExternalData", "objectID", "observationInfo",
    ]

    /// The names by which the generated code means something outside the class.
    static let calls: Set<String> = [
        "_ManagedKeys", "managedAdd", "managedAnyValue", "managedInsert", "managedRemove", "managedReplace",
        "managedValue", "setManagedAnyValue", "setManagedValue",
    ]

    /// The types that the code of each generated class uses.
    static let types: Set<String> = [
        "Identifiable", "ManagedPropertyKey", "NSFetchRequest", "NSManagedObject", "_ManagedKeys",
    ]

    /// The types that the helpers of to-many relationships use.
    static let helperTypes: Set<String> = ["NSSet"]
    static let orderedHelperTypes: Set<String> = ["Int", "NSIndexSet", "NSOrderedSet"]
}
