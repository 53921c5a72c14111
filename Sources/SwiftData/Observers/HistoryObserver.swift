import CoreData

/// Follows the history of a container's stores.
///
/// ```swift
/// let history = try HistoryObserver(observedModels: [Book.self], modelContainer: container)
/// withObservationTracking { _ = history.eventCounter } onChange: { … }
/// ```
final public class HistoryObserver: Observable {
    private let registrar = ObservationRegistrar()
    /// The container.
    final public let modelContainer: ModelContainer
    /// The model classes of which changes count; empty for all.
    final public let observedModels: [any PersistentModel.Type]
    /// The authors whose changes count; empty for all.
    final public let authors: Set<String>
    private let state: State
    private var subscription: (any NSObjectProtocol)?

    /// How far the history was followed. Saves are reported on any thread.
    private final class State: @unchecked Sendable {
        // @unchecked Sendable: used under its lock.
        private let lock = NSLock()
        private let context: ModelContext
        private let names: Set<String>
        private let authors: Set<String>
        private var tokens: [String: any HistoryToken]
        private var count = 0

        init(
            _ context: ModelContext, _ names: Set<String>, _ authors: Set<String>, _ tokens: [String: any HistoryToken]
        ) {
            (self.context, self.names, self.authors, self.tokens) = (context, names, authors, tokens)
        }

        func read<Result>(_ body: (Int, [String: any HistoryToken]) -> Result) -> Result {
            lock.withLock { body(count, tokens) }
        }

        /// Goes on to the end of the history, and notes whether a transaction counts.
        ///
        /// - Returns: whether one does.
        func advance(counting: Bool = true) throws -> Bool {
            try lock.withLock {
                let numbers = tokens.values.compactMap { ($0 as? DefaultHistoryToken)?.tokenValue }
                let start = DefaultHistoryToken(numbers.reduce(into: [:]) { $0.merge($1) { max($0, $1) } })
                let descriptor =
                    numbers.isEmpty
                    ? HistoryDescriptor<DefaultHistoryTransaction>()
                    : HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > start })
                let transactions = try context.fetchHistory(descriptor)
                for transaction in transactions { tokens[transaction.storeIdentifier] = transaction.token }
                guard counting, transactions.contains(where: counts) else { return false }
                count += 1
                return true
            }
        }

        private func counts(_ transaction: DefaultHistoryTransaction) -> Bool {
            guard authors.isEmpty || transaction.author.map(authors.contains) ?? false else { return false }
            return names.isEmpty
                || transaction.changes.contains { names.contains($0.changedPersistentIdentifier.entityName) }
        }
    }

    /// The list of an observer, for tasks that run on its actor.
    private struct Reference: @unchecked Sendable {
        // @unchecked Sendable: observers are told on the actor on which the observer was made.
        weak let observer: HistoryObserver?

        func advance(on isolation: isolated any Actor) { observer?.advance() }
    }

    /// Begins to follow the history.
    ///
    /// - Parameters:
    ///   - historyTokens: the position after which changes count, by the identifier of the store; nil for the present
    ///     end of the history.
    ///   - observedModels: the model classes of which changes count; empty for all.
    ///   - authors: the authors whose changes count; empty for all.
    ///   - modelContainer: the container.
    ///   - isolation: the actor on which the observer is used. Without one, changes are announced on the thread of the
    ///     save.
    /// - Throws: the errors of ``ModelContext/fetchHistory(_:)``.
    public init(
        historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
        authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        self.modelContainer = modelContainer
        self.observedModels = observedModels
        self.authors = authors
        let types = observedModels.map { ModelType.of($0) }
        let names = modelContainer.schema.modelTypes.values.filter { type in types.contains { type.isKind(of: $0) } }
        state = State(
            ModelContext(modelContainer), Set(names.map(\.name)), authors, historyTokens ?? [:])
        _ = try state.advance(counting: historyTokens != nil)
        let reference = Reference(observer: self)
        subscription = NotificationCenter.default.addObserver(
            forName: ModelContainer.remoteChange, object: modelContainer, queue: nil
        ) { _ in
            guard let isolation else { return reference.observer?.advance() ?? () }
            Task { await reference.advance(on: isolation) }
        }
    }

    deinit {
        if let subscription { NotificationCenter.default.removeObserver(subscription) }
    }

    /// How often changes were seen that count. Changes that come together may count once.
    final public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return state.read { count, _ in count }
    }

    /// The position up to which the history was followed, by the identifier of the store.
    final public var historyTokens: [String: any HistoryToken] {
        registrar.access(self, keyPath: \.historyTokens)
        return state.read { _, tokens in tokens }
    }

    /// Goes on to the end of the history. What cannot be read is read at the next change.
    private func advance() {
        guard (try? state.advance()) == true else { return }
        registrar.willSet(self, keyPath: \.eventCounter)
        registrar.willSet(self, keyPath: \.historyTokens)
        registrar.didSet(self, keyPath: \.eventCounter)
        registrar.didSet(self, keyPath: \.historyTokens)
    }
}
