import Foundation

/// What Xcode fills in when it compiles a mapping model whose source leaves it open: names, kinds and value
/// expressions. Pure; derived from a source and the file compiled from it.
struct GeneratedMapping {
    let source: MappedModel
    let destination: MappedModel
    /// The entity mappings: names, and their source and destination entities.
    let mappings: [(name: String, source: String?, destination: String?)]

    /// `CarToCar`, or the entity's name if the other side has none.
    static func name(source: String?, destination: String?) -> String {
        guard let source, let destination else { return destination ?? source ?? "" }
        return "\(source)To\(destination)"
    }

    /// Custom if there is a policy; otherwise it follows from the entities: a copy if the name, the attributes and the
    /// entities that the relationships lead to are the same, as far as both versions have the relationships.
    func type(source sourceName: String?, destination destinationName: String?, hasPolicy: Bool) -> NSEntityMappingType
    {
        if hasPolicy { return .customEntityMappingType }
        guard let sourceName else { return .addEntityMappingType }
        guard let destinationName else { return .removeEntityMappingType }
        if source.versionHash(of: sourceName) == destination.versionHash(of: destinationName) {
            return .copyEntityMappingType
        }
        // In one of the known examples, Xcode copies an entity that has an additional relationship.
        let (ends, newEnds) = (Self.ends(of: sourceName, in: source), Self.ends(of: destinationName, in: destination))
        let isSame =
            sourceName == destinationName
            && Self.attributes(of: sourceName, in: source) == Self.attributes(of: destinationName, in: destination)
            && ends.allSatisfy { newEnds[$0.key] == nil || newEnds[$0.key] == $0.value }
        return isSame ? .copyEntityMappingType : .transformEntityMappingType
    }

    private static func attributes(of entity: String, in model: MappedModel) -> [String: Data] {
        model.properties(of: entity).filter { $0.value.attribute != nil && !$0.value.isTransient }.mapValues {
            VersionHash.hash(of: VersionedProperty($0))
        }
    }

    /// The names of the entities that an entity's relationships lead to.
    private static func ends(of entity: String, in model: MappedModel) -> [String: String] {
        model.properties(of: entity).compactMapValues { $0.relationship?.destinationName }
    }

    /// All objects of an entity that satisfy a predicate:
    /// `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Car", "TRUEPREDICATE"),
    /// $manager.sourceContext, NO)`
    static func objects(of entity: String, predicate: String?) -> ExpressionTree {
        let manager = ExpressionTree.variable(NSMigrationManagerKey)
        let request = ExpressionTree.call(
            on: manager, name: MigrationFunction.fetchRequest,
            arguments: [.constant(.string(entity)), .constant(.string(predicate ?? "TRUEPREDICATE"))])
        return .fetch(request, in: .path(from: manager, ["sourceContext"]), countOnly: false)
    }

    /// `$source.name`, if the source entity has that attribute.
    func attribute(_ name: String, of entity: String?) -> ExpressionTree? {
        guard let entity, source.property(name, of: entity)?.attribute != nil else { return nil }
        return Self.sourceValue(name)
    }

    /// The migrated objects of the source relationship: by the entity mapping of their entity, or by the relationship
    /// if several mappings start from that entity and its subentities.
    func relationship(_ name: String, of entity: String?, keyPath: String? = nil, through: String? = nil)
        -> ExpressionTree?
    {
        let key = keyPath.map(Self.withoutSource) ?? name
        if let through { return Self.instances(MigrationFunction.destinationsOfMapping, through, key) }
        guard let entity, let relationship = source.property(key, of: entity)?.relationship,
            let target = relationship.destinationName
        else { return nil }
        let names = source.selfAndDescendants(of: target)
        let fitting = mappings.filter { $0.destination != nil && names.contains($0.source ?? "") }
        switch fitting.count {
        case 0: return nil
        case 1: return Self.instances(MigrationFunction.destinationsOfMapping, fitting[0].name, key)
        default: return Self.instances(MigrationFunction.destinationsOfRelationship, key, key)
        }
    }

    private static func instances(_ function: String, _ argument: String, _ key: String) -> ExpressionTree {
        .call(
            on: .variable(NSMigrationManagerKey), name: function,
            arguments: [.constant(.string(argument)), sourceValue(key)])
    }

    /// Xcode's editor takes `$source.country.continent` as well as `country.continent`.
    private static func withoutSource(_ keyPath: String) -> String {
        let prefix = "$\(NSMigrationSourceObjectKey)."
        return keyPath.hasPrefix(prefix) ? String(keyPath.dropFirst(prefix.count)) : keyPath
    }

    /// `$source.key`, or the source object itself, which an object that is made from it may refer to by another
    /// mapping.
    private static func sourceValue(_ key: String) -> ExpressionTree {
        let source = ExpressionTree.variable(NSMigrationSourceObjectKey)
        guard key != "$\(NSMigrationSourceObjectKey)" else { return source }
        return .path(from: source, key.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }
}

/// The methods of the migration manager that mapping models call by name.
package enum MigrationFunction {
    package static let destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    package static let destinationsOfMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    package static let sourcesOfMapping = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    package static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
    package static let fetchRequestWithSubentities =
        "fetchRequestForSourceEntityNamed:predicateString:includesSubentities:"
}

/// In value expressions, `$manager`: the migration manager.
public let NSMigrationManagerKey = "manager"
/// In value expressions, `$source`: the source object.
public let NSMigrationSourceObjectKey = "source"
/// In value expressions, `$destination`: the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// In value expressions, `$entityMapping`: the entity mapping that is being worked on.
public let NSMigrationEntityMappingKey = "entityMapping"
/// In value expressions, `$propertyMapping`: the property mapping that is being worked on.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// In value expressions, `$entityPolicy`: the migration policy of the entity mapping.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// A version of a model as a mapping model sees it: entities by name, with their inherited properties, and their
/// version hashes.
package struct MappedModel {
    private let entities: [String: EntityDocument]
    private let hashes: [String: Data]

    /// - Parameters:
    ///   - document: the version as a value.
    ///   - hashes: the version hashes of the entities, by name.
    package init(_ document: ModelDocument, hashes: [String: Data]) {
        entities = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.hashes = hashes
    }

    func hasEntity(_ name: String) -> Bool { entities[name] != nil }

    func versionHash(of entity: String) -> Data? { hashes[entity] }

    /// A property of an entity, its own or inherited.
    func property(_ name: String, of entity: String) -> PropertyDocument? { properties(of: entity)[name] }

    /// The properties of an entity, its own and inherited ones, by name.
    func properties(of entity: String) -> [String: PropertyDocument] {
        guard let document = entities[entity] else { return [:] }
        let line = [document] + DocumentCheck.ancestors(of: document, entities)
        return Dictionary(line.flatMap(\.properties).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// An entity and all its subentities.
    func selfAndDescendants(of entity: String) -> Set<String> {
        Set(
            entities.values.filter { candidate in
                candidate.name == entity
                    || DocumentCheck.ancestors(of: candidate, entities).contains { $0.name == entity }
            }.map(\.name))
    }
}

extension MappingSource {
    /// The models that a source names, found in the project: by the recorded path, or by its last parts, in the folder
    /// of the file or one above it. A version that no longer exists under its name is replaced by the version of its
    /// package that the mappings fit, and otherwise by the copy of the model that the source itself holds: Xcode
    /// compiles with its copies, and does not notice that a version was renamed or moved.
    ///
    /// - Parameter url: the `.xcmappingmodel`.
    /// - Returns: both versions of the model.
    /// - Throws: an error in the Cocoa domain that names the path that leads nowhere.
    package func mappedModels(
        for url: URL
    ) throws -> (source: MappedModel, destination: MappedModel) {
        try ModelFileError.naming(MappingSourceReader.file(url)) {
            let source = try NamedModel(modelPaths.source, "source", beside: url)
            let destination = try NamedModel(modelPaths.destination, "destination", beside: url)
            let areFound = !source.versions.isEmpty && !destination.versions.isEmpty
            let pairs = areFound ? [] : fitting(source, destination)
            if pairs.count == 1 { return pairs[0] }
            return (
                try model(source, copy: "sourcemodeldata", fitting: pairs.count),
                try model(destination, copy: "destinationmodeldata", fitting: pairs.count)
            )
        }
    }

    /// The version at the path that a source names, or the source's own copy of it.
    private func model(_ named: NamedModel, copy field: String, fitting count: Int) throws -> MappedModel {
        if let version = named.versions.first { return try Self.model(version) }
        guard let text = root?.text(field), let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            // The form in which Xcode 3 stored models, to this day.
            let document = try? SourceReader.document(ofElements: data), (try? DocumentCheck.check(document)) != nil
        else { throw named.missing(fitting: count) }
        return MappedModel(document, hashes: VersionHash.hashes(of: document))
    }

    /// The pairs of versions that all mappings fit, if one is not found by its name.
    private func fitting(
        _ source: NamedModel, _ destination: NamedModel
    ) -> [(source: MappedModel, destination: MappedModel)] {
        var found: [(source: MappedModel, destination: MappedModel)] = []
        let destinations = Self.models(destination, with: entityMappings.compactMap { $0.text("destinationname") })
        for (first, from) in Self.models(source, with: entityMappings.compactMap { $0.text("sourcename") }) {
            for (second, to) in destinations where first != second {
                let mappings = try? MappingSourceCompiler.documents(of: self, from: from, to: to)
                if mappings != nil { found.append((from, to)) }
            }
        }
        return found
    }

    /// The versions that have all of the entities. A package may have drafts that cannot be read.
    private static func models(_ named: NamedModel, with entities: [String]) -> [(url: URL, model: MappedModel)] {
        (named.versions + named.others).compactMap { url in
            guard let model = try? model(url), entities.allSatisfy(model.hasEntity) else { return nil }
            return (url, model)
        }
    }

    private static func model(_ url: URL) throws -> MappedModel { try MappedModel(ModelPackage(at: url)) }
}

/// A version of a model that the source of a mapping model names by its path.
private struct NamedModel {
    let path: String?
    let side: String
    /// The version at the path; empty if there is no such file.
    let versions: [URL]
    /// The versions of its package, if the path names none of them.
    let others: [URL]

    init(_ path: String?, _ side: String, beside url: URL) throws {
        self.path = path
        self.side = side
        let parts = (path ?? "").split(separator: "/").map(String.init)
        versions = Self.file(parts[...], beside: url).map { [$0] } ?? []
        guard versions.isEmpty, let package = parts.lastIndex(where: { $0.hasSuffix(".xcdatamodeld") }),
            let folder = Self.file(parts[...package], beside: url)
        else {
            others = []
            return
        }
        others = try ModelPackage(at: folder).versions.map(\.url)
    }

    func missing(fitting count: Int) -> ModelFileError {
        guard let path else { return ModelFileError(reason: "it does not say where its \(side) model is") }
        let names = others.map { "“\($0.deletingPathExtension().lastPathComponent)”" }.joined(separator: ", ")
        let known = others.isEmpty ? "" : "; of \(names), which are in its package, \(count) fit the mappings"
        return ModelFileError(
            .missing, reason: "its \(side) model, “\(path)”, is neither in its folder nor in one above it\(known)")
    }

    /// The file at a path, or at its last parts, in the folder of a file or one above it.
    private static func file(_ parts: ArraySlice<String>, beside url: URL) -> URL? {
        var folder = url.standardizedFileURL.deletingLastPathComponent()
        for _ in 0..<16 {
            for start in parts.indices {
                let candidate = parts[start...].reduce(folder) { $0.appendingPathComponent($1) }
                if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
            }
            if folder.path == "/" { break }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}

extension MappedModel {
    /// The current version of a model file.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    init(_ package: ModelPackage) throws {
        let document = try package.document()
        try ModelPackage.check(document, of: package.version(named: package.currentVersionName))
        let recorded = try package.recordedHashes(version: package.currentVersionName)
        self.init(document, hashes: VersionHash.hashes(of: document).merging(recorded) { _, recorded in recorded })
    }
}
