import CompactCollections
import Foundation
import Ordering

/// A mapping model as Xcode's editor stores it, `xcmapping.xml` in an `.xcmappingmodel`: a Core Data XML store of the
/// editor's own objects. The value holds the whole file, so that it can be written again unchanged.
package struct MappingSource: Equatable, Sendable {
    /// The kinds of the editor's objects.
    package enum Kind: String, Sendable {
        case model = "XDDEVMAPPINGMODEL"
        case entity = "XDDEVENTITYMAPPING"
        case attribute = "XDDEVATTRIBUTEMAPPING"
        case relationship = "XDDEVRELATIONSHIPMAPPING"
    }

    /// One object of the editor, with its fields in the file's order and under the file's names, which have no
    /// capitals.
    package struct Object: Equatable, Sendable {
        package var kind: Kind
        package var key: Int64
        package var fields: [Field] = []
        package var references: [Reference] = []

        package struct Field: Equatable, Sendable {
            package var name: String
            package var text: String
        }

        package struct Reference: Equatable, Sendable {
            package var name: String
            package var keys: [Int64]
        }

        /// A field's text; nil for a missing or empty one.
        func text(_ name: String) -> String? {
            guard let text = fields.first(where: { $0.name == name })?.text, !text.isEmpty else { return nil }
            return text
        }

        func keys(_ name: String) -> [Int64] { references.first { $0.name == name }?.keys ?? [] }

        mutating func set(_ name: String, _ text: String?) {
            if let text { fields.append(Field(name: name, text: text)) }
        }

        mutating func refer(_ name: String, to keys: [Int64]) { references.append(Reference(name: name, keys: keys)) }
    }

    package var uuid = UUID().uuidString
    /// The number for the next object.
    package var nextKey: Int64 = 102
    /// The version of the framework that wrote the file.
    package var frameworkVersion: Int64 = 1044
    /// A digest that later versions of Xcode add.
    package var checksum: String?
    package var objects: [Object] = []

    var root: Object? { objects.first { $0.kind == .model } }

    /// The paths of the models in the project.
    package var modelPaths: (source: String?, destination: String?) {
        (root?.text("sourcemodelpath"), root?.text("destinationmodelpath"))
    }

    /// The entity mappings, in the order in which a migration runs them.
    var entityMappings: [Object] {
        let byKey = objectByKey
        let listed = (root?.keys("entitymappings") ?? []).compactMap { byKey[$0] }
        return listed.ordered { Self.number($0) < Self.number($1) }
    }

    /// The mappings of an entity mapping's attributes or relationships.
    func properties(_ name: String, of mapping: Object) -> [Object] {
        let byKey = objectByKey
        return mapping.keys(name).compactMap { byKey[$0] }
    }

    private var objectByKey: [Int64: Object] {
        Dictionary(objects.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func number(_ object: Object) -> Int64 { object.text("mappingnumber").flatMap { Int64($0) } ?? .max }
}
