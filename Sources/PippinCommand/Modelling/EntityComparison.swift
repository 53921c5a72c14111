import CoreData
import StoreReading

/// How an entity differs from the one that it comes from. Pure.
struct EntityComparison {
    /// Nil where nothing differs.
    let entity: ModelDiff.Entity?

    /// - Parameters:
    ///   - former: the entity in the first model; nil for a new one.
    ///   - entity: the entity in the second model.
    ///   - propertyNames: the names that its properties had, by their names.
    ///   - entityNames: the names that entities had, by their names.
    init(
        _ former: EntityDocument?, _ entity: EntityDocument, propertyNames: [String: String],
        entityNames: [String: String]
    ) {
        guard let former else {
            let properties = entity.properties.sorted { $0.name < $1.name }.map {
                ModelDiff.Property(change: .added, name: $0.name, phrases: PropertyComparison.description(of: $0))
            }
            var phrases = entity.parentName.map { ["inherits from \($0)"] } ?? []
            if entity.isAbstract { phrases.append("abstract") }
            self.entity = ModelDiff.Entity(
                change: .added, name: entity.name, phrases: phrases, properties: properties)
            return
        }
        let phrases = Self.phrases(former, entity, entityNames)
        var properties: [ModelDiff.Property] = []
        var kept: Set<String> = []
        for property in entity.properties.sorted(by: { $0.name < $1.name }) {
            // A transient property is in no store, so nothing but its name leads back.
            let name = propertyNames[property.name] ?? property.name
            guard let old = former.property(named: name) else {
                let isMoved = propertyNames[property.name] != nil
                let words = isMoved ? ["moved here"] : PropertyComparison.description(of: property)
                let change: ModelDiff.Change = isMoved ? .changed : .added
                properties.append(ModelDiff.Property(change: change, name: property.name, phrases: words))
                continue
            }
            kept.insert(name)
            let words = PropertyComparison.phrases(old, property, entityNames)
            if !words.isEmpty {
                properties.append(ModelDiff.Property(change: .changed, name: property.name, phrases: words))
            }
        }
        for old in former.properties.sorted(by: { $0.name < $1.name }) where !kept.contains(old.name) {
            properties.append(ModelDiff.Property(change: .removed, name: old.name, phrases: []))
        }
        self.entity =
            phrases.isEmpty && properties.isEmpty
            ? nil : ModelDiff.Entity(change: .changed, name: entity.name, phrases: phrases, properties: properties)
    }

    private static func phrases(
        _ former: EntityDocument, _ entity: EntityDocument, _ entityNames: [String: String]
    ) -> [String] {
        var phrases: [String] = []
        if former.name != entity.name { phrases.append("was \(former.name)") }
        if former.parentName != entity.parentName.map({ entityNames[$0] ?? $0 }) {
            phrases.append("parent \(former.parentName ?? "none") → \(entity.parentName ?? "none")")
        }
        if former.isAbstract != entity.isAbstract {
            phrases.append(entity.isAbstract ? "now abstract" : "no longer abstract")
        }
        if former.className != entity.className {
            phrases.append("class \(former.className ?? "NSManagedObject") → \(entity.className ?? "NSManagedObject")")
        }
        if former.versionHashModifier != entity.versionHashModifier {
            phrases.append(
                "hash modifier \(former.versionHashModifier ?? "none") → \(entity.versionHashModifier ?? "none")")
        }
        if Set(former.uniquenessConstraints) != Set(entity.uniquenessConstraints) {
            phrases.append("uniqueness constraints changed")
        }
        if former.indexes != entity.indexes { phrases.append("indexes changed") }
        if former.compoundIndexesBesideFetchIndexes != entity.compoundIndexesBesideFetchIndexes {
            phrases.append("compound indexes changed")
        }
        if former.spotlightDisplayName != entity.spotlightDisplayName { phrases.append("name for Spotlight changed") }
        if former.userInfo != entity.userInfo { phrases.append("user info changed") }
        if rest(of: former) != rest(of: entity) { phrases.append("something else changed") }
        return phrases
    }

    /// An entity without the parts that the comparison names, so that a difference in any other part is reported, too.
    /// Properties are compared one by one. Parts that only sources have, or that only lead from one version to the
    /// next, are left out.
    private static func rest(of entity: EntityDocument) -> EntityDocument {
        var rest = entity
        (rest.name, rest.parentName, rest.className, rest.isAbstract) = ("", nil, nil, false)
        (rest.properties, rest.uniquenessConstraints, rest.indexes, rest.compoundIndexes) = ([], [], [], [])
        (rest.versionHashModifier, rest.renamingIdentifier, rest.spotlightDisplayName) = (nil, nil, nil)
        (rest.userInfo, rest.codeGeneration, rest.isClassInCurrentModule) = ([:], .none, false)
        return rest
    }
}
