import Foundation
import ModelFiles
import PredicateFormat

/// A model: the entities that a store holds, their configurations and fetch request templates.
///
/// Build one in code, or read one from a file. A model can be changed until a coordinator uses it.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: frozen before more than one thread can see it (see `freeze`).

    /// All entities of the model, subentities included.
    open var entities: [NSEntityDescription] {
        get { storedEntities }
        set {
            willChangeModel()
            for former in storedEntities where former.model === self { former.model = nil }
            storedEntities = newValue
            recordedVersionChecksum = nil
            for entity in newValue { entity.model = self }
        }
    }

    private var storedEntities: [NSEntityDescription] = []

    /// The entities by name.
    open var entitiesByName: [String: NSEntityDescription] {
        derivedEntitiesByName
    }

    /// Values computed from the present descriptions.
    let derived = DerivedFacts()

    /// The names of the configurations, sorted.
    ///
    /// The default configuration, which has all entities, is one of them as soon as a coordinator uses the model:
    /// programs add a store for each name.
    open var configurations: [String] {
        guard isFrozen else { return declaredConfigurations }
        return Set(configurationMembers.keys).union([Self.defaultConfigurationName]).sorted()
    }

    /// The names of the configurations that the model declares, sorted.
    package final var declaredConfigurations: [String] { configurationMembers.keys.sorted() }

    /// The names of the entities of each configuration.
    package private(set) var configurationMembers: [String: [String]] = [:]

    /// The entities of a configuration; all entities for `nil` or the default configuration's name.
    ///
    /// - Parameter configuration: the name of a configuration. “Default” also means all entities, unless the model has
    ///   a configuration of that name.
    /// - Returns: the entities; `nil` if there is no such configuration.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        guard let names = configurationMembers[configuration] else {
            return configuration == Self.shownDefaultConfigurationName ? entities : nil
        }
        return names.compactMap { entitiesByName[$0] }
    }

    /// The names of a configuration's entities.
    ///
    /// - Parameter configuration: the name of a configuration.
    /// - Returns: the names; nil for all entities of the model, and if there is no such configuration.
    package func entityNames(inConfiguration configuration: String?) -> Set<String>? {
        guard let members = entities(forConfigurationName: configuration), members.count != entities.count else {
            return nil
        }
        return Set(members.compactMap(\.name))
    }

    /// Sets the entities of a configuration, which is made if it does not exist.
    ///
    /// - Parameters:
    ///   - entities: entities of this model.
    ///   - configuration: the name.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        setEntityNames(entities.compactMap(\.name), forConfigurationName: configuration)
    }

    package func setEntityNames(_ names: [String], forConfigurationName configuration: String) {
        willChangeModel()
        configurationMembers[configuration] = names
    }

    /// Apple's name for the configuration with all entities.
    package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The default configuration's name in Xcode's model editor, which programs also pass.
    private static let shownDefaultConfigurationName = "Default"

    /// Keeps an entity in its configurations when its name changes.
    func renameInConfigurations(_ former: String, to name: String?) {
        guard !isFrozen, former != name, !entities.contains(where: { $0.name == former }) else { return }
        for (configuration, members) in configurationMembers where members.contains(former) {
            configurationMembers[configuration] = members.compactMap { $0 == former ? name : $0 }
        }
    }

    /// Called before a name changes, since relationships and requests may identify an entity by it.
    func bindNames() {
        guard !isFrozen else { return }
        for entity in entities {
            for case let relationship as NSRelationshipDescription in entity.ownProperties { relationship.bind() }
        }
        bindRequests()
    }

    /// Leads the requests of templates and fetched properties to the model's own entities.
    private func bindRequests() {
        let fetched = entities.flatMap(\.ownProperties).compactMap(\.request)
        for request in fetched + templates.values.compactMap({ $0 as? any EntityRequest }) {
            if let entity = request.entityName.flatMap({ entitiesByName[$0] }) { request.lead(to: entity) }
        }
    }

    /// The developer's identifiers for this version of the model.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willChangeModel() } }

    /// The version hash of every entity, by name.
    open var entityVersionHashesByName: [String: Data] {
        derivedVersionHashes
    }

    /// Our own version hashes of the entities, even if a file contains Apple's.
    package var ownVersionHashesByName: [String: Data] { entitiesByName.mapValues(\.ownVersionHash) }

    /// Sets the entities' version hashes from a file.
    package func recordVersionHashes(_ hashes: [String: Data]) {
        for entity in entities { entity.recordedVersionHash = hashes[entity.name ?? ""] }
    }

    /// A digest of the version hashes of all entities, in Base64.
    ///
    /// It differs between versions. It is Apple's if the model file contains it or Apple's version hashes.
    open var versionChecksum: String {
        if let recordedVersionChecksum, entities.allSatisfy({ $0.recordedVersionHash != nil }) {
            return recordedVersionChecksum
        }
        return VersionHash.checksum(of: self)
    }

    /// The checksum that Apple's tools computed, if the model file contains one; valid as long as the entities'
    /// recorded hashes are.
    package var recordedVersionChecksum: String?

    /// The file that a model was read from: its package and the name of its version in it.
    package struct Origin: Equatable, Sendable {
        package let package: URL
        package let versionName: String

        package init(package: URL, versionName: String) {
            self.package = package
            self.versionName = versionName
        }
    }

    /// The origin of the model, used in messages; `nil` for models that were not read from a file.
    package var origin: Origin?

    /// Descriptions of properties in the model's file that could not be read; only caches of unusual stores have any.
    package var unreadProperties: [String] = []

    /// Translations of the model's strings, with the keys that Apple documents. A model that is read from a file has
    /// those of the strings file beside it.
    open var localizationDictionary: [String: String]?

    /// The name of the class of all objects, whatever class their entities name; nil for the entities' own classes.
    package var objectClassName: String?

    /// The fetch request templates: requests, which a higher room defines.
    package var templates: [String: NSObject] = [:]

    /// The form that stores and objects use, made when a coordinator takes the model; see `layout`.
    package var compiled: AnyObject?

    /// Guards `compiled` and the freezing, which any thread may request.
    package let lock = NSLock()

    /// Creates a model without entities.
    public override init() { super.init() }

    /// The names of the entities, since two models in a migration's error would fill pages. Core Data prints them
    /// whole, as ``debugDescription`` does.
    open override var description: String { described { $0.name ?? "" } }

    /// What Core Data prints of a model: its entities with their properties, and its templates of requests.
    open override var debugDescription: String { described(entity: \.description) }

    /// Whether the other object is a model with the same entities, properties and configurations, wherever it was
    /// loaded from.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal model.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        if other === self { return true }
        // The hashes distinguish most models, and are available.
        return entityVersionHashesByName == other.entityVersionHashesByName
            && configurationMembers.mapValues { $0.sorted() } == other.configurationMembers.mapValues { $0.sorted() }
            && derivedText == other.derivedText
            && ModelUserInfo(self) == ModelUserInfo(other)
    }

    /// A hash of the names of the entities.
    open override var hash: Int { Set(storedEntities.map(\.name)).hashValue }

    package private(set) var isFrozen = false

    /// Makes the model and its entities immutable. Calls may be repeated.
    package func freeze() {
        guard !isFrozen else { return }
        for entity in storedEntities { entity.freeze() }
        isFrozen = true
        _ = entitiesByName
    }

    package func willChangeModel() {
        if isFrozen { programmerError("cannot change a model that a coordinator uses. Change a copy of the model.") }
        derived.forget()
    }

    /// Returns a deep copy that can be changed.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSManagedObjectModel()
        copy.copyContents(of: self)
        return copy
    }

    /// Becomes a deep copy of another model; for readers and initializers.
    package func copyContents(of source: NSManagedObjectModel) {
        let known = Set(source.entities.map(ObjectIdentifier.init))
        var copies: [NSEntityDescription] = []
        func collect(_ entity: NSEntityDescription) {
            copies.append(entity)
            entity.subentities.forEach(collect)
        }
        // Copying a root also copies its descendants.
        for entity in source.entities where entity.superentity.map({ !known.contains(ObjectIdentifier($0)) }) ?? true {
            if let copy = entity.copy() as? NSEntityDescription { collect(copy) }
        }
        let order = Dictionary(
            source.entities.enumerated().map { ($1.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        entities = copies.sorted { order[$0.name ?? "", default: .max] < order[$1.name ?? "", default: .max] }
        configurationMembers = source.configurationMembers
        versionIdentifiers = source.versionIdentifiers
        recordedVersionChecksum = source.recordedVersionChecksum
        localizationDictionary = source.localizationDictionary
        unreadProperties = source.unreadProperties
        templates = source.templates.mapValues { $0.copy() as? NSObject ?? $0 }
        bindRequests()
    }

    /// Whether a store fits the model.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the store; `nil` for all entities.
    ///   - metadata: the store's metadata, with its entities' version hashes.
    /// - Returns: `true` if every entity has the store's version. The store may have further entities of the model.
    open func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let hashes = StoredVersionHashes(metadata), let entities = entities(forConfigurationName: configuration)
        else { return false }
        return hashes.fitExactly(StoredVersionHashes.compared(entities, of: self, metadata: metadata))
    }
}

extension VersionHash {
    /// The hash of a property.
    package static func hash(of property: NSPropertyDescription) -> Data { hash(of: VersionedProperty(property)) }

    /// The hash of an entity.
    package static func hash(of entity: NSEntityDescription) -> Data {
        let properties = entity.propertiesByName.sorted { $0.key < $1.key }.map { VersionedProperty($0.value) }
        return hash(
            of: VersionedEntity(
                name: entity.name, parentName: entity.superentity?.name, parentHash: entity.superentity?.ownVersionHash,
                isAbstract: entity.isAbstract, versionHashModifier: entity.versionHashModifier,
                uniquenessConstraints: entity.uniquenessConstraintNames, properties: properties))
    }

    /// A digest over the version hashes of all entities, in Base64.
    package static func checksum(of model: NSManagedObjectModel) -> String {
        checksum(of: model.entityVersionHashesByName)
    }
}

extension VersionedProperty {
    fileprivate init(_ property: NSPropertyDescription) {
        let kind: Kind =
            switch property {
            case let attribute as NSAttributeDescription:
                .attribute(VersionedAttribute(attribute))
            case let relationship as NSRelationshipDescription: .relationship(RelationshipDocument(relationship))
            default: .fetched
            }
        self.init(
            name: property.name, kind: kind, isOptional: property.isOptional, isTransient: property.isTransient,
            versionHashModifier: property.versionHashModifier)
    }
}

extension VersionedProperty.VersionedAttribute {
    fileprivate init(_ attribute: NSAttributeDescription) {
        let derived = attribute as? NSDerivedAttributeDescription
        self.init(
            type: attribute.attributeType, isDerived: derived != nil,
            derivation: derived?.derivationExpression.map(Self.text(ofDerivation:)),
            allowsExternalStorage: attribute.allowsExternalBinaryDataStorage,
            preservesValueOnDeletion: attribute.preservesValueInHistoryOnDeletion,
            elements: (attribute as? NSCompositeAttributeDescription)?.elements.map(VersionedProperty.init) ?? [])
    }

    private static func text(ofDerivation expression: NSExpression) -> String {
        let tree = expressionTree(of: expression)
        guard case .expression(let canonical) = AttributeDocument.Derivation.expression(tree).canonical else {
            return expression.description
        }
        return canonical == tree ? expression.description : canonical.format
    }
}
