import CompactCollections
import Foundation
import Ordering

/// A model as a value: the content of every kind of model file, free of classes, so that models can be compared, and
/// readers and writers are functions.
package struct ModelDocument: Equatable, Sendable {
    package var entities: [EntityDocument] = []
    /// The names of the member entities of each configuration.
    package var configurations: [String: [String]] = [:]
    package var fetchRequestTemplates: [String: FetchRequestDocument] = [:]
    /// The developer's identifiers of this version.
    package var versionIdentifiers: [String] = []
    /// The parts of the file that could not be read. Only from compiled models and model caches.
    package var losses: [ArchiveLoss] = []

    package init() {}

    package func entity(named name: String) -> EntityDocument? { entities.first { $0.name == name } }

    /// The same model in canonical order, without what only source files contain: the content of a compiled model.
    package var compiled: ModelDocument {
        var result = self
        result.entities = entities.map(\.compiled).ordered { $0.name < $1.name }
        result.configurations = configurations.mapValues { $0.sorted() }
        result.versionIdentifiers = versionIdentifiers.sorted()
        return result
    }
}

/// An entity as a value.
package struct EntityDocument: Equatable, Sendable {
    package var name: String
    /// The name of the class of the entity's objects; nil for `NSManagedObject`.
    package var className: String?
    package var isAbstract = false
    /// The entity that this one inherits from.
    package var parentName: String?
    /// The properties that the entity itself declares.
    package var properties: [PropertyDocument] = []
    package var uniquenessConstraints: [[String]] = []
    package var indexes: [IndexDocument] = []
    /// Indexes over several properties, from before fetch indexes existed.
    package var compoundIndexes: [[String]] = []
    /// The expression for the name that Spotlight shows; it has no meaning for a store.
    package var spotlightDisplayName: ExpressionTree?
    package var userInfo: [String: ModelValue] = [:]
    package var versionHashModifier: String?
    /// The name in the previous version of the model, if it differs.
    package var renamingIdentifier: String?
    /// What Xcode generates for the entity. Source files only.
    package var codeGeneration = CodeGeneration.none
    /// Whether the class belongs to the module that the model is compiled for. Source files only.
    package var isClassInCurrentModule = false

    package init(name: String) { self.name = name }

    package func property(named name: String) -> PropertyDocument? { properties.first { $0.name == name } }

    /// Whether a name in a uniqueness constraint is that of an element of a composite attribute, `home.city`. Compiled
    /// models may have such constraints, sources may not.
    package func isElement(_ name: String) -> Bool { name != name.firstKey && property(named: name) == nil }

    var compiled: EntityDocument {
        var result = self
        result.properties = properties.map(\.compiled).ordered { $0.name < $1.name }
        result.codeGeneration = .none
        result.isClassInCurrentModule = false
        return result
    }
}

/// What Xcode generates for an entity: its class with accessors, accessors only, or nothing.
package enum CodeGeneration: String, Equatable, Sendable {
    case classDefinition = "class"
    case categoryExtension = "category"
    case none = ""
}

/// A fetch index as a value.
package struct IndexDocument: Equatable, Sendable {
    package var name: String
    package var elements: [IndexElementDocument]
    /// The condition on the index's rows; nil for all rows.
    package var predicate: PredicateTree?

    package init(name: String, elements: [IndexElementDocument], predicate: PredicateTree? = nil) {
        self.name = name
        self.elements = elements
        self.predicate = predicate
    }
}

/// One property or expression that a fetch index covers.
package struct IndexElementDocument: Equatable, Sendable {
    package enum Subject: Equatable, Sendable {
        case property(String)
        case expression(name: String, ExpressionTree?, NSAttributeType)
    }

    package var subject: Subject
    package var type: NSFetchIndexElementType
    package var isAscending: Bool

    package init(_ subject: Subject, type: NSFetchIndexElementType = .binary, isAscending: Bool = true) {
        self.subject = subject
        self.type = type
        self.isAscending = isAscending
    }

    /// The name of an expression in a source, where it has none. A compiled model numbers these: `expression1`.
    static let expressionName = "expression"

    static func isNumbered(_ name: String) -> Bool {
        name.hasPrefix(expressionName) && name.utf8.dropFirst(expressionName.utf8.count).allSatisfy { 48...57 ~= $0 }
    }

    package var propertyName: String? {
        if case .property(let name) = subject { return name }
        return nil
    }
}
