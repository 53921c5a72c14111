import Foundation
import Ordering

/// A model compiled for use: entities by number, properties by place. Immutable.
///
/// Its parts refer to each other, so a compiled model lives until the process ends.
package final class ModelLayout: Sendable {
    /// The entities in the order of their numbers: the roots by name, each followed by its descendants.
    package let entities: [EntityLayout]
    package let entityByName: [String: EntityLayout]

    /// Compiles a model that has been checked.
    ///
    /// - Throws: `NSManagedObjectModel.ModelError` if a name or a connection is missing or wrong.
    init(_ model: NSManagedObjectModel) throws {
        try ModelCheck.check(model)
        var layouts: [EntityLayout] = []
        func append(_ entity: NSEntityDescription, below parent: EntityLayout?) {
            let layout = EntityLayout(entity, number: layouts.count + 1, superentity: parent)
            let position = layouts.count
            layouts.append(layout)
            for child in entity.subentities.ordered(by: ModelLayout.byName) { append(child, below: layout) }
            layout.selfAndSubentities = Array(layouts[position...])
        }
        for root in model.entities.filter({ $0.superentity == nil }).ordered(by: ModelLayout.byName) {
            append(root, below: nil)
        }
        let byName = Dictionary(layouts.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for layout in layouts {
            let inherited = layout.superentity?.relationships.count ?? 0
            for relationship in layout.relationships[inherited...] {
                let name = relationship.description.destinationEntity?.name ?? ""
                guard let destination = byName[name] else { continue }  // ModelCheck refused it
                relationship.link(source: layout, destination: destination)
            }
        }
        for layout in layouts {
            for relationship in layout.relationships where relationship.inverse == nil {
                guard let inverse = relationship.description.inverseRelationship,
                    relationship.description.isLedBackTo(by: inverse)
                else { continue }
                relationship.inverse = relationship.destination.relationship(named: inverse.name)
            }
        }
        entities = layouts
        entityByName = byName
    }

    /// Core Data numbers entities without regard to case: in Apple's address book, ABCDUnknownProperty is 30 and
    /// ABCDURLAddress 31.
    private static func byName(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool {
        let (first, second) = (left.name ?? "", right.name ?? "")
        let (foldedFirst, foldedSecond) = (first.lowercased(), second.lowercased())
        return foldedFirst == foldedSecond ? first < second : foldedFirst < foldedSecond
    }
}

extension NSRelationshipDescription {
    /// Whether an inverse that the model names is one. Models that apps were shipped with have two relationships with
    /// the same inverse: it is kept for the one that it leads back to, and the other has none.
    fileprivate func isLedBackTo(by inverse: NSRelationshipDescription) -> Bool {
        inverse.inverseRelationship.map { $0.name == name } ?? true
    }
}

extension NSManagedObjectModel {
    /// The compiled form. The first call checks and freezes the model.
    ///
    /// - Throws: an error that names the entity and the property that are wrong.
    package func compiledLayout() throws -> ModelLayout {
        lock.lock()
        defer { lock.unlock() }
        if let layout = compiled as? ModelLayout { return layout }
        let layout = try ModelLayout(self)
        for entity in layout.entities { entity.description.compiled = entity }
        freeze()
        compiled = layout
        return layout
    }
}

extension NSEntityDescription {
    /// The compiled form of the entity; `nil` while its model is not in use.
    package var layout: EntityLayout? {
        if let compiled { return compiled as? EntityLayout }
        guard let name, let model else { return nil }
        return (try? model.compiledLayout())?.entityByName[name]
    }
}
