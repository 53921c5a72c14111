import CoreData
import Synchronization

/// What a context posts, a line a notification: its name, and how many objects are under each key.
final class PostingLog: Sendable {
    private let entries = Mutex<[String]>([])
    private let tokens: Unchecked<[any NSObjectProtocol]>

    private static let names: [(NSNotification.Name, String)] = [
        (.NSManagedObjectContextObjectsDidChange, "changed"), (.NSManagedObjectContextWillSave, "willSave"),
        (.NSManagedObjectContextDidSave, "didSave"), (.NSManagedObjectContextDidSaveObjectIDs, "didSaveIDs"),
        (.NSManagedObjectContextDidMergeChangesObjectIDs, "merged"),
    ]

    init(_ context: NSManagedObjectContext) {
        let entries = Transfer()
        tokens = Unchecked(
            Self.names.map { name, label in
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    entries.log?.note(label, $0.userInfo ?? [:])
                }
            })
        entries.log = self
    }

    deinit { for token in tokens.value { NotificationCenter.default.removeObserver(token) } }

    /// Lets the observers, which are made first, find the log without keeping it.
    private final class Transfer: @unchecked Sendable {
        // @unchecked Sendable: set once, before anything is posted.
        weak var log: PostingLog?
    }

    private func note(_ label: String, _ info: [AnyHashable: Any]) {
        var parts: [String] = []
        for (key, value) in info {
            guard let key = key as? String else { continue }
            let name = key.replacingOccurrences(of: "_objectIDs", with: "")
            switch value {
            case let objects as Set<NSManagedObject>: if !objects.isEmpty { parts.append("\(name) \(objects.count)") }
            case let identifiers as Set<NSManagedObjectID>:
                if !identifiers.isEmpty { parts.append("\(name) \(identifiers.count)") }
            case let identifiers as [NSManagedObjectID]: parts.append("\(name) \(identifiers.count)")
            default: parts.append(name)
            }
        }
        let line = ([label] + parts.sorted()).joined(separator: " ")
        entries.withLock { $0.append(line) }
    }

    /// What was posted since the last time.
    func take() -> [String] {
        entries.withLock { entries in
            defer { entries = [] }
            return entries
        }
    }
}
