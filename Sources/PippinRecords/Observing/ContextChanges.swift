import CoreData
import Pippin

/// The events that a context reports.
public enum ContextEvent: Sendable {
    /// Objects were inserted, changed, deleted or refreshed, saved or not.
    case objectsDidChange
    /// A save is about to begin.
    case willSave
    /// A save is done.
    case didSave

    fileprivate var name: Notification.Name {
        switch self {
        case .objectsDidChange: .NSManagedObjectContextObjectsDidChange
        case .willSave: .NSManagedObjectContextWillSave
        case .didSave: .NSManagedObjectContextDidSave
        }
    }
}

/// The typed content of a context's notification: the objects that it is about.
public struct ContextChanges {
    /// The inserted objects.
    public let inserted: Set<NSManagedObject>
    /// The objects with new values.
    public let updated: Set<NSManagedObject>
    /// The deleted objects.
    public let deleted: Set<NSManagedObject>
    /// The objects that took values saved by others.
    public let refreshed: Set<NSManagedObject>
    /// Whether all objects of the context have become invalid.
    public let invalidatedAll: Bool

    /// The content of a notification of a context.
    ///
    /// - Parameter notification: a notification that a context posted.
    public init(_ notification: Notification) {
        func objects(_ key: String) -> Set<NSManagedObject> {
            notification.userInfo?[key] as? Set<NSManagedObject> ?? []
        }
        inserted = objects(NSInsertedObjectsKey)
        updated = objects(NSUpdatedObjectsKey)
        deleted = objects(NSDeletedObjectsKey)
        refreshed = objects(NSRefreshedObjectsKey)
        invalidatedAll = notification.userInfo?[NSInvalidatedAllObjectsKey] != nil
    }

    /// The same, with only the records of one type.
    ///
    /// - Parameter type: the type.
    /// - Returns: the records of that type, in four lists.
    public func of<Record: NSManagedObject>(
        _ type: Record.Type
    ) -> (inserted: [Record], updated: [Record], deleted: [Record], refreshed: [Record]) {
        func records(_ objects: Set<NSManagedObject>) -> [Record] { objects.compactMap { $0 as? Record } }
        return (records(inserted), records(updated), records(deleted), records(refreshed))
    }
}

/// Ends an observation when it is cancelled or released.
public final class ObservationToken: @unchecked Sendable {
    // @unchecked Sendable: the notification center's token is locked, and only passed back to it.
    private let token: Locked<(any NSObjectProtocol)?>

    init(_ token: any NSObjectProtocol) { self.token = Locked(token) }

    deinit { cancel() }

    /// Ends the observation.
    public func cancel() {
        let token = token.withLock { token in
            defer { token = nil }
            return token
        }
        if let token { NotificationCenter.default.removeObserver(token) }
    }
}

extension NSManagedObjectContext {
    /// Observes the context's events, with typed content.
    ///
    /// ```swift
    /// token = context.observe(.didSave) { changes in
    ///     for person in changes.of(PersonRecord.self).inserted { … }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - event: the events to observe.
    ///   - body: called on the context's queue.
    /// - Returns: a token that ends the observation when it is released.
    public func observe(_ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) -> ObservationToken {
        observe(event.name) { body(ContextChanges($0)) }
    }

    func observe(_ name: Notification.Name, _ body: @escaping (Notification) -> Void) -> ObservationToken {
        let body = UncheckedTransfer(value: body)
        return ObservationToken(
            NotificationCenter.default.addObserver(forName: name, object: self, queue: nil) { body.value($0) })
    }
}
