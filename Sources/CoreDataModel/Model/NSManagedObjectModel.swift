import Foundation
import Ordering

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
            for entity in newValue { entity.model = self }
        }
    }

    private var storedEntities: [NSEntityDescription] = []

    /// The entities by name.
    open var entitiesByName: [String: NSEntityDescription] {
        derivedEntitiesByName
    }

    /// What was computed from the descriptions as they are.
    let derived = DerivedFacts()

    /// The names of the configurations, sorted.
    open var configurations: [String] { configurationMembers.keys.sorted() }

    /// The names of the entities of each configuration.
    package private(set) var configurationMembers: [String: [String]] = [:]

    /// The entities of a configuration; all entities for `nil` or the default configuration's name.
    ///
    /// - Parameter configuration: the name of a configuration. “Default” is all entities, too, unless the model has a configuration
    ///   of that name.
    /// - Returns: the entities; `nil` when there is no such configuration.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        guard let names = configurationMembers[configuration] else {
            return configuration == Self.shownDefaultConfigurationName ? entities : nil
        }
        return names.compactMap { entitiesByName[$0] }
    }

    /// Sets the entities of a configuration, which is made if there is none of that name.
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

    /// The configuration that stands for all entities, by the name that Apple gives it.
    package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The name that Xcode's model editor shows for the default configuration, and that programs pass for it.
    private static let shownDefaultConfigurationName = "Default"

    /// An entity that gets another name stays in its configurations.
    func renameInConfigurations(_ former: String, to name: String?) {
        guard !isFrozen, former != name, !entities.contains(where: { $0.name == former }) else { return }
        for (configuration, members) in configurationMembers where members.contains(former) {
            configurationMembers[configuration] = members.compactMap { $0 == former ? name : $0 }
        }
    }

    /// Called before a name changes: relationships may know by it where they lead.
    func bindRelationships() {
        guard !isFrozen else { return }
        for entity in entities {
            for case let relationship as NSRelationshipDescription in entity.ownProperties { relationship.bind() }
        }
    }

    /// The developer's identifiers of this version of the model.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willChangeModel() } }

    /// The version hash of every entity, by name.
    open var entityVersionHashesByName: [String: Data] {
        derivedVersionHashes
    }

    /// Our own version hashes of the entities, also where a file carries Apple's.
    package var ownVersionHashesByName: [String: Data] { entitiesByName.mapValues(\.ownVersionHash) }

    /// Gives the entities the version hashes that a file carries for them.
    package func recordVersionHashes(_ hashes: [String: Data]) {
        for entity in entities { entity.recordedVersionHash = hashes[entity.name ?? ""] }
    }

    /// A digest of the version hashes of all entities, in Base64.
    ///
    /// It differs between versions. It is Apple's where the model file carries it or Apple's version hashes.
    open var versionChecksum: String {
        if let recordedVersionChecksum, entities.allSatisfy({ $0.recordedVersionHash != nil }) {
            return recordedVersionChecksum
        }
        return VersionHash.checksum(of: self)
    }

    /// The checksum that Apple's tools computed, where a model file carries one; good as long as the entities' hashes are.
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

    /// Where the model was read from, by which messages call it; `nil` for models that were made otherwise.
    package var origin: Origin?

    /// The properties that the file of the model has and that could not be read, in words; none but for caches of odd stores.
    package var unreadProperties: [String] = []

    /// Translations of the model's strings, keyed as Apple documents.
    open var localizationDictionary: [String: String]?

    /// What fetch request templates are kept as: requests, which a higher room defines.
    package var templates: [String: NSObject] = [:]

    /// The form that stores and objects use, made when a coordinator takes the model; see `layout`.
    package var compiled: AnyObject?

    /// Guards `compiled` and the freezing, which any thread may ask for.
    package let lock = NSLock()

    /// Creates a model without entities.
    public override init() { super.init() }

    /// Whether the other object is a model with the same entities, properties and configurations, wherever it was loaded
    /// from.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal model.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        if other === self { return true }
        // The hashes tell most models apart, and are at hand.
        return entityVersionHashesByName == other.entityVersionHashesByName
            && configurationMembers.mapValues { $0.sorted() } == other.configurationMembers.mapValues { $0.sorted() }
            && derivedText == other.derivedText
            && ModelUserInfo(self) == ModelUserInfo(other)
    }

    /// Of the names of the entities.
    open override var hash: Int { Set(storedEntities.map(\.name)).hashValue }

    package private(set) var isFrozen = false

    /// Makes the model and its entities immutable. Safe to repeat.
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
        // Copying a root copies what is below it.
        for entity in source.entities where entity.superentity.map({ !known.contains(ObjectIdentifier($0)) }) ?? true {
            if let copy = entity.copy() as? NSEntityDescription { collect(copy) }
        }
        let order = Dictionary(
            source.entities.enumerated().map { ($1.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        entities = copies.ordered { order[$0.name ?? "", default: .max] < order[$1.name ?? "", default: .max] }
        configurationMembers = source.configurationMembers
        versionIdentifiers = source.versionIdentifiers
        recordedVersionChecksum = source.recordedVersionChecksum
        localizationDictionary = source.localizationDictionary
        templates = source.templates
    }

    /// Whether a store fits the model.
    ///
    /// - Parameters:
    ///   - configuration: the configuration that the store holds, `nil` for all entities.
    ///   - metadata: the store's metadata, which name its entities' version hashes.
    /// - Returns: `true` when every entity has the version that the store has.
    open func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let hashes = StoredVersionHashes(metadata), let entities = entities(forConfigurationName: configuration)
        else { return false }
        return hashes.fitExactly(entities)
    }
}
