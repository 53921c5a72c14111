import CodeGeneration
import CoreData
import StoreReading

/// What changes from one model to another, and what becomes of stores, as a value.
struct ModelDiff {
    enum Change: Equatable {
        case added
        case removed
        case changed
    }

    struct Property {
        let change: Change
        let name: String
        /// What it is, or what becomes different, as phrases.
        let phrases: [String]
    }

    struct Entity {
        let change: Change
        let name: String
        let phrases: [String]
        let properties: [Property]
    }

    /// What a mapping model has to say of a property or an entity.
    struct Demand {
        let place: String
        let what: String
    }

    let fromTitle: String
    let toTitle: String
    let entities: [Entity]
    /// Other changes, as phrases.
    let others: [String]
    /// Why no mapping can be inferred; empty where one can be.
    let demands: [Demand]
    /// New mandatory properties without a default value, which stop the migration of objects that have none.
    let missingDefaults: [String]
    /// Whether a store of the first model has to be migrated to fit the second.
    let needsMigration: Bool

    var needsMappingModel: Bool { !demands.isEmpty }

    init(from first: ModelSource, to second: ModelSource) throws {
        let (source, destination) = (try first.model(), try second.model())
        let names = ModelCorrespondence(from: source, to: destination)
        fromTitle = first.title
        toTitle = second.title
        let failures = MappingInference.failures(from: source, to: destination)
        needsMigration =
            try !failures.isEmpty || MappingInference.plan(from: source, to: destination).changesAnything
        var entities: [Entity] = []
        for entity in second.document.entities.sorted(by: { $0.name < $1.name }) {
            let former = names.entities[entity.name].flatMap { first.document.entity(named: $0) }
            let compared = EntityComparison(
                former, entity, propertyNames: names.properties[entity.name] ?? [:], entityNames: names.entities)
            if let change = compared.entity { entities.append(change) }
        }
        let kept = Set(names.entities.values)
        for entity in first.document.entities.sorted(by: { $0.name < $1.name }) where !kept.contains(entity.name) {
            entities.append(Entity(change: .removed, name: entity.name, phrases: ["with its objects"], properties: []))
        }
        self.entities = entities
        others = Self.others(first.document, second.document)
        demands = failures.map { Demand($0, second.document, first.document, names) }
        missingDefaults = Self.missingDefaults(second.document, first.document, names)
    }

    private static func others(_ first: ModelDocument, _ second: ModelDocument) -> [String] {
        var phrases: [String] = []
        // A compiled model without an identifier has none or an empty one.
        let identifiers = [first, second].map { listed($0.versionIdentifiers) }
        if identifiers[0] != identifiers[1] {
            phrases.append("version identifiers: \(identifiers[0]) → \(identifiers[1])")
        }
        let members = [first, second].map { $0.configurations.mapValues { $0.sorted() } }
        phrases += named("configurations", members[0], members[1])
        phrases += named("fetch requests", first.fetchRequestTemplates, second.fetchRequestTemplates)
        return phrases
    }

    /// Phrases for values by name: the names on both sides if they differ, and the names whose values differ.
    private static func named<Value: Equatable>(
        _ what: String, _ first: [String: Value], _ second: [String: Value]
    ) -> [String] {
        var phrases: [String] = []
        if Set(first.keys) != Set(second.keys) {
            phrases.append("\(what): \(listed(first.keys)) → \(listed(second.keys))")
        }
        let changed = first.filter { name, value in second[name].map { $0 != value } ?? false }
        if !changed.isEmpty { phrases.append("\(what) that say something else: \(listed(changed.keys))") }
        return phrases
    }

    private static func listed(_ names: some Sequence<String>) -> String {
        let list = names.filter { !$0.isEmpty }.sorted().joined(separator: ", ")
        return list.isEmpty ? "none" : list
    }

    private static func missingDefaults(
        _ document: ModelDocument, _ former: ModelDocument, _ names: ModelCorrespondence
    ) -> [String] {
        document.entities.sorted { $0.name < $1.name }.flatMap { entity -> [String] in
            guard names.entities[entity.name] != nil else { return [] }
            return entity.properties.sorted { $0.name < $1.name }.compactMap { property in
                guard !property.isOptional, !property.isTransient else { return nil }
                switch property.kind {
                case .attribute(let attribute):
                    guard attribute.defaultValue == nil, attribute.derivation == nil else { return nil }
                case .relationship(let relationship):
                    // To-many relationships may be empty until such an object is saved.
                    if relationship.isToMany { return nil }
                case .fetched: return nil
                }
                let name = names.properties[entity.name]?[property.name]
                if let name, former.property(name, of: names.entities[entity.name])?.isOptional == false { return nil }
                return "\(entity.name).\(property.name)"
            }
        }
    }
}

extension ModelDocument {
    /// A property by its name, of an entity or one that it inherits from.
    func property(_ name: String, of entity: String?) -> PropertyDocument? {
        var current = entity.flatMap { self.entity(named: $0) }
        while let entity = current {
            if let property = entity.property(named: name) { return property }
            current = entity.parentName.flatMap { self.entity(named: $0) }
        }
        return nil
    }
}

extension ModelDiff.Demand {
    fileprivate init(
        _ failure: InferenceFailure, _ document: ModelDocument, _ former: ModelDocument, _ names: ModelCorrespondence
    ) {
        place = [failure.entity, failure.property].compactMap { $0 }.joined(separator: ".")
        let formerName = failure.property.flatMap { names.properties[failure.entity]?[$0] } ?? failure.property ?? ""
        let old = former.property(formerName, of: names.entities[failure.entity])
        let new = failure.property.flatMap { document.property($0, of: failure.entity) }
        switch (old?.kind, new?.kind) {
        case (.attribute(let first), .attribute(let second)):
            what =
                "how the \(TypeName.of(first.type)) “\(formerName)” becomes a \(TypeName.of(second.type)): a value "
                + "expression such as FUNCTION($entityPolicy, \"\(failure.property ?? "")From:\", $source.\(formerName))"
        case (.relationship(let first), .relationship(let second)) where first.isToMany && !second.isToMany:
            what = "which of the objects of “\(formerName)” to keep"
        case (.relationship, .relationship):
            what = "which objects “\(failure.property ?? "")” leads to (\(failure.reason))"
        default: what = failure.reason
        }
    }
}

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

/// A model to work with: one version of a model file, or the copy that a store keeps.
struct ModelSource {
    let document: ModelDocument
    /// Version hashes that Apple's tools computed, by entity; empty for a model without them.
    let versionHashes: [String: Data]
    /// Apple's checksum of the version.
    let checksum: String?
    /// The file's name, with its version where it has several.
    let title: String
    /// The names of the versions, and which is current; none for a store.
    let versions: [String]
    let currentVersion: String?
    /// The version of a model file; nil for a store.
    let version: ModelPackage.Version?
    /// What its source has that is not understood, and means nothing to a store.
    let remarks: [String]

    /// Opens a model.
    ///
    /// - Throws: an error that names the file and what is wrong with it.
    init(_ choice: ModelInvocation.Choice) throws {
        let named = URL(fileURLWithPath: choice.path)
        // A file within a source stands for the source.
        let url = Self.parts.contains(named.lastPathComponent) ? ModelPackage.model(around: named) ?? named : named
        guard Self.isModel(url) else {
            self = try Self.ofStore(URL(store: choice.path), version: choice.version)
            return
        }
        let package = try ModelPackage(at: url)
        let name = try choice.version ?? package.currentVersionName
        let version = try package.version(named: name)
        self.version = version
        document = try package.document(version: name).withoutImpliedIndexes
        versionHashes = package.recordedHashes(version: name)
        checksum = versionHashes.isEmpty ? nil : package.info.checksums[name]
        versions = package.versions.map(\.name)
        currentVersion = try? package.currentVersionName
        remarks = try package.sourceWarnings(version: name).map(\.text)
        // An .omo is Apple's own form of the .mom beside it.
        let (file, read) = (url.lastPathComponent, package.url.lastPathComponent)
        title =
            (url.pathExtension == "omo" && file != read ? "\(file), read from \(read)" : read)
            + (versions.count > 1 ? ", version “\(name)”" : "")
    }

    /// The files in models that have no extension of their own.
    private static let parts: Set<String> = [
        "contents", "elements", "layout", "VersionInfo.plist", ".xccurrentversion",
    ]

    /// Whether a path is that of a model file, by its extension; anything else is taken for a store.
    static func isModel(_ url: URL) -> Bool {
        ["momd", "mom", "omo", "xcdatamodeld", "xcdatamodel"].contains(url.pathExtension)
    }

    /// The line of the file that a problem is in; nil for a store, and for files without lines.
    func line(of problem: RecordProblem) -> Int? {
        version.flatMap { ModelPackage.line(ofEntity: problem.entity, property: problem.property, in: $0) }
    }

    /// Checks the model of a file as a whole.
    ///
    /// - Throws: an error that names file, line, entity and property.
    func check() throws {
        if let version { try ModelPackage.check(document, of: version) }
    }

    private init(document: ModelDocument, versionHashes: [String: Data], title: String) {
        self.document = document
        self.versionHashes = versionHashes
        self.title = title
        checksum = nil
        version = nil
        remarks = []
        versions = []
        currentVersion = nil
    }

    private static func ofStore(_ url: URL, version: String?) throws -> ModelSource {
        if let version {
            throw CommandError("“\(url.path)” is not a model file, so it has no version “\(version)” to choose")
        }
        let copy = try PrivateCopy(of: url)
        let facts = try FileFacts(salvaging: copy, original: url)
        let candidate: ModelCandidate
        do { candidate = try ModelCandidate.copy(in: facts, store: url) } catch let error as ModelCandidate.NoModel {
            throw CommandError("\(error.reason); pippin info shows the entities as the file has them")
        }
        let isOurs = facts.metadata["PippinVersionHashes"] != nil
        return ModelSource(
            document: candidate.document.withoutImpliedIndexes, versionHashes: isOurs ? [:] : candidate.versionHashes,
            title: "the model in \(url.lastPathComponent)")
    }

    /// The model as Core Data's classes.
    ///
    /// - Throws: an error that names the entity and property that are wrong, and their place in a model file.
    func model() throws -> NSManagedObjectModel {
        try check()
        return try ModelFileError.naming(nil) {
            let model = try ModelAssembler.model(document, versionHashes: versionHashes)
            model.recordedVersionChecksum = checksum
            return model
        }
    }
}
