import CoreData
import Synchronization

/// What a container and its contexts share: the stores, and which class is kept as which entity.
///
/// Contexts hold it rather than the container, which holds the main context.
final class ContainerCore: @unchecked Sendable {
    // @unchecked Sendable: what changes is in mutexes or belongs to the main actor; the rest is immutable.
    let schema: Schema
    let migrationPlan: (any SchemaMigrationPlan.Type)?
    let configurations: Mutex<Set<ModelConfiguration>>
    let coordinator: NSPersistentStoreCoordinator
    /// The model classes of the entities.
    private let bindings: [ObjectIdentifier: EntityBinding]
    private let bindingsByName: [String: EntityBinding]
    /// The mailboxes of the contexts, as long as there are these.
    private let mailboxes = Mutex<[WeakMailbox]>([])
    private let shownContainer = Mutex<WeakContainer>(WeakContainer())
    @MainActor weak var mainContext: ModelContext?

    private struct WeakMailbox: Sendable { weak let mailbox: ContextMailbox? }
    private struct WeakContainer: Sendable { weak var container: ModelContainer? }

    init(
        _ schema: Schema, over coordinator: NSPersistentStoreCoordinator,
        _ migrationPlan: (any SchemaMigrationPlan.Type)? = nil, _ configurations: Set<ModelConfiguration> = []
    ) {
        self.schema = schema
        self.coordinator = coordinator
        self.migrationPlan = migrationPlan
        self.configurations = Mutex(configurations)
        let layout = coordinator.modelLayout
        let found = schema.modelTypes.values.compactMap { type in
            layout.entityByName[type.name].map { EntityBinding(type, $0) }
        }
        bindings = Dictionary(uniqueKeysWithValues: found.map { (ObjectIdentifier($0.layout), $0) })
        bindingsByName = Dictionary(found.map { ($0.type.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The container; another one of the same stores if the program holds none any more.
    var container: ModelContainer { shownContainer.withLock { $0.container } ?? ModelContainer(self) }

    func lead(to container: ModelContainer) { shownContainer.withLock { $0.container = container } }

    // MARK: Entities

    /// The class of an entity's models; nil for an entity without one.
    func binding(of layout: EntityLayout) -> EntityBinding? { bindings[ObjectIdentifier(layout)] }

    /// The entity of a class, which may be of an earlier declaration with the same name; nil if there is none.
    func binding(of type: ModelType) -> EntityBinding? {
        guard let binding = bindingsByName[type.name] else { return nil }
        return binding.type === type ? binding : EntityBinding(type, binding.layout)
    }

    /// The identifier of a row; nil for one of another container's stores.
    func objectID(of identifier: PersistentIdentifier) -> NSManagedObjectID? {
        guard case .stored(let store, let key) = identifier.id.content else { return nil }
        let entity = identifier.entityName.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
        return URL(string: "x-coredata://\(store)/\(entity ?? identifier.entityName)/\(key)").flatMap {
            coordinator.managedObjectID(forURIRepresentation: $0)
        }
    }

    // MARK: Contexts

    func join(_ context: ModelContext) {
        let mailbox = WeakMailbox(mailbox: context.mailbox)
        mailboxes.withLock { mailboxes in
            mailboxes.removeAll { $0.mailbox == nil }
            mailboxes.append(mailbox)
        }
    }

    /// Lets the other contexts know what one has saved.
    func announce(_ changes: SavedIdentifiers, from mailbox: ContextMailbox) {
        let others = mailboxes.withLock { $0.compactMap(\.mailbox).filter { $0 !== mailbox } }
        for other in others { other.put(changes) }
    }
}
