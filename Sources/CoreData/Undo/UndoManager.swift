import Foundation
import StoreSession

/// Records actions that undo changes, in groups, and runs them. It replaces Foundation's class, which exists on Apple's
/// systems only.
///
/// ```swift
/// context.undoManager = UndoManager()
/// book.title = "Emma"
/// context.undo()
/// ```
/// Use it on one queue: that of its context.
open class UndoManager: NSObject {
    private var open: [UndoGroup] = []
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    private var disabled = 0
    private var hasEventGroup = false
    /// Whether the event of a private queue has ended within the present turn of the main queue.
    private var hasEndedInTurn = false
    /// The group that reverses the undo or redo that runs. It may have closed already: what observers of that do
    /// belongs to it.
    private var reverse: UndoGroup?

    /// Creates an undo manager with nothing to undo.
    public override init() { super.init() }

    // MARK: Groups

    /// Whether actions that are registered within one event make up a group. The default is `true`.
    ///
    /// An event is a turn of the main queue or, for a context of a private queue, its `perform` block. If it is
    /// `false`, changes that a context processes while no group is open are a group of their own.
    open var groupsByEvent = true

    /// How many groups are open.
    open var groupingLevel: Int { open.count }

    /// The largest number of groups to keep; 0, the default, for no limit.
    open var levelsOfUndo = 0 { didSet { trim() } }

    /// Opens a group. Groups within a group are undone with it.
    open func beginUndoGrouping() {
        openEventGroupIfNeeded()
        // Changes made before it belong to the group around it; around a top-level group there is none.
        if !open.isEmpty { post(.NSUndoManagerCheckpoint) }
        open.append(UndoGroup())
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Closes the group that was opened last. Stops the program if none is open.
    open func endUndoGrouping() {
        post(.NSUndoManagerCheckpoint)
        guard let group = open.last else { programmerError("endUndoGrouping was called with no group open") }
        post(.NSUndoManagerWillCloseUndoGroup)
        open.removeLast()
        // While an undo runs, the groups that are open around it are put aside.
        if open.isEmpty, !isUndoing { hasEventGroup = false }
        if !group.isEmpty {
            if let outer = open.last {
                outer.actions.append(.group(group))
            } else if isUndoing {
                redoStack.append(group)
            } else {
                undoStack.append(group)
                trim()
            }
        }
        post(.NSUndoManagerDidCloseUndoGroup)
    }

    /// Ends the event: closes the group that was opened for it.
    ///
    /// - Parameter isBlock: whether the event is the block of a private queue.
    package final func endEvent(isBlock: Bool) {
        guard hasEventGroup, open.count == 1, !isUndoing, !isRedoing else { return }
        hasEndedInTurn = isBlock && MainQueue.isCurrent
        endUndoGrouping()
    }

    private func openEventGroupIfNeeded() {
        guard groupsByEvent, open.isEmpty, !isUndoing, !isRedoing else { return }
        open.append(UndoGroup())
        hasEventGroup = true
        guard MainQueue.isCallers else { return }
        // A weak reference, only used by the main queue, like the manager.
        let later = WeakManager(self)
        DispatchQueue.main.async {
            later.manager?.endEvent(isBlock: false)
            later.manager?.hasEndedInTurn = false
        }
    }

    /// The group of the present event, whose changes a context registers when the event ends; otherwise the last one.
    private func groupToName() -> UndoGroup? {
        // After a block of a private queue that the main queue waited for, it is the block's group.
        let isInTurn = MainQueue.isCallers && !hasEndedInTurn
        if RunningBlock.owner.map({ $0.undoManager === self }) ?? isInTurn { openEventGroupIfNeeded() }
        return open.first ?? undoStack.last
    }

    private func trim() {
        guard levelsOfUndo > 0 else { return }
        undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
        redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
    }

    // MARK: Registering

    /// Whether actions are recorded.
    open var isUndoRegistrationEnabled: Bool { disabled == 0 }

    /// Stops recording until `enableUndoRegistration` has been called the same number of times.
    open func disableUndoRegistration() { disabled += 1 }

    /// Undoes one `disableUndoRegistration`. Stops the program if there was none.
    open func enableUndoRegistration() {
        guard disabled > 0 else { programmerError("undo registration is enabled already") }
        disabled -= 1
    }

    /// Records an action. Actions that it registers when it is run by an undo become the redo.
    ///
    /// - Parameters:
    ///   - target: the object that the action works on. It is not kept alive; if it is gone, the action does nothing.
    ///   - handler: undoes the change.
    public func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        guard isUndoRegistrationEnabled else { return }
        openEventGroupIfNeeded()
        guard let group = open.last ?? reopenedReverse() else {
            programmerError("registerUndo needs an open group when groupsByEvent is false; call beginUndoGrouping()")
        }
        group.actions.append(
            .call(UndoTarget(target)) { target in if let target = target as? TargetType { handler(target) } })
        if !isUndoing, !isRedoing { redoStack = [] }
    }

    /// Whether actions can be registered now without opening a group.
    final var hasGroup: Bool { !open.isEmpty || reverse != nil }

    private func reopenedReverse() -> UndoGroup? {
        guard let reverse else { return nil }
        if isUndoing {
            if !redoStack.contains(where: { $0 === reverse }) { redoStack.append(reverse) }
        } else if !undoStack.contains(where: { $0 === reverse }) {
            undoStack.append(reverse)
        }
        return reverse
    }

    /// Forgets all actions.
    open func removeAllActions() {
        undoStack = []
        redoStack = []
        for group in open { group.actions = [] }
    }

    /// Forgets the actions of a target.
    ///
    /// - Parameter target: the target that the actions were registered with.
    open func removeAllActions(withTarget target: Any) {
        for group in undoStack + redoStack + open { group.remove(target as AnyObject) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    /// All that can be undone and redone.
    struct Content {
        fileprivate let undo: [UndoGroup]
        fileprivate let redo: [UndoGroup]
        fileprivate let open: [(group: UndoGroup, actions: [UndoGroup.Action])]
        fileprivate let hasEventGroup: Bool
    }

    final var content: Content {
        get {
            Content(
                undo: undoStack, redo: redoStack, open: open.map { ($0, $0.actions) }, hasEventGroup: hasEventGroup)
        }
        set {
            (undoStack, redoStack, hasEventGroup) = (newValue.undo, newValue.redo, newValue.hasEventGroup)
            open = newValue.open.map { group, actions in
                group.actions = actions
                return group
            }
        }
    }

    // MARK: Undoing

    /// Whether there is anything to undo.
    open var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.isEmpty } }

    /// Whether there is anything to redo.
    open var canRedo: Bool {
        post(.NSUndoManagerCheckpoint)
        return !redoStack.isEmpty
    }

    /// Whether an undo is running.
    open private(set) var isUndoing = false

    /// Whether a redo is running.
    open private(set) var isRedoing = false

    /// Closes the last group if it is the only one open, and undoes it. Stops the program if more are open.
    open func undo() {
        post(.NSUndoManagerCheckpoint)
        if open.count == 1 { endUndoGrouping() }
        if !open.isEmpty { programmerError("undo was called with \(open.count) groups open; end them first") }
        undoNestedGroup()
    }

    /// Undoes the last closed group.
    open func undoNestedGroup() {
        post(.NSUndoManagerCheckpoint)
        guard let group = open.last?.takeLastGroup() ?? undoStack.popLast() else { return }
        post(.NSUndoManagerWillUndoChange)
        isUndoing = true
        let outer = open
        open = []
        play(group)
        open = outer
        isUndoing = false
        post(.NSUndoManagerDidUndoChange)
    }

    /// Redoes what was last undone.
    open func redo() {
        post(.NSUndoManagerCheckpoint)
        guard let group = redoStack.popLast() else { return }
        post(.NSUndoManagerWillRedoChange)
        isRedoing = true
        play(group)
        isRedoing = false
        post(.NSUndoManagerDidRedoChange)
    }

    private func play(_ group: UndoGroup) {
        let reverse = UndoGroup()
        reverse.name = group.name
        reverse.isDiscardable = group.isDiscardable
        open.append(reverse)
        let outer = self.reverse
        self.reverse = reverse
        group.run()
        endUndoGrouping()
        self.reverse = outer
    }

    // MARK: Names

    /// The name of the action that `undo` undoes; "" if there is none.
    open var undoActionName: String { open.first?.name ?? undoStack.last?.name ?? "" }

    /// The name of the action that `redo` redoes; "" if there is none.
    open var redoActionName: String { redoStack.last?.name ?? "" }

    /// Names the group of the present event, also before anything is registered in it; otherwise the last one.
    ///
    /// - Parameter actionName: the name, as a menu shows it after “Undo”.
    open func setActionName(_ actionName: String) { groupToName()?.name = actionName }

    /// Sets whether the action can be discarded without asking, such as a selection.
    ///
    /// - Parameter discardable: whether it can be discarded.
    open func setActionIsDiscardable(_ discardable: Bool) { groupToName()?.isDiscardable = discardable }

    /// Whether the action that `undo` undoes can be discarded without asking.
    open var undoActionIsDiscardable: Bool { (open.first ?? undoStack.last)?.isDiscardable ?? false }

    /// Whether the action that `redo` redoes can be discarded without asking.
    open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

    /// The title of a menu item: “Undo” and the action's name.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// The title of a menu item: “Redo” and the action's name.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// “Undo” and a name.
    ///
    /// - Parameter actionName: the name; "" for none.
    /// - Returns: the title, such as “Undo Typing”.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// “Redo” and a name.
    ///
    /// - Parameter actionName: the name; "" for none.
    /// - Returns: the title, such as “Redo Typing”.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}

/// Actions that are undone together, in reverse order.
final class UndoGroup {
    enum Action {
        case call(UndoTarget, (AnyObject) -> Void)
        case group(UndoGroup)
    }

    var actions: [Action] = []
    var name = ""
    var isDiscardable = false

    var isEmpty: Bool { actions.isEmpty }

    func run() {
        for action in actions.reversed() {
            switch action {
            case .call(let target, let handler): if let target = target.object { handler(target) }
            case .group(let group): group.run()
            }
        }
    }

    /// Removes and returns the group that was closed last within this one.
    func takeLastGroup() -> UndoGroup? {
        guard case .group(let group)? = actions.last else { return nil }
        actions.removeLast()
        return group
    }

    /// Forgets the actions of a target.
    func remove(_ target: AnyObject) {
        actions.removeAll { action in
            switch action {
            case .call(let owner, _): return owner.object === target
            case .group(let group):
                group.remove(target)
                return group.isEmpty
            }
        }
    }
}

/// The target of an action, which the undo manager does not keep alive.
final class UndoTarget {
    private(set) weak var object: AnyObject?
    init(_ object: AnyObject) { self.object = object }
}

/// A weak reference to an undo manager.
final class WeakManager: @unchecked Sendable {
    // @unchecked Sendable: made and used on the main queue.
    weak var manager: UndoManager?
    init(_ manager: UndoManager) { self.manager = manager }
}

/// The block that runs, as an undo manager knows it: changes of one block are undone together.
enum RunningBlock {
    /// The context of the block; nil outside of blocks.
    @TaskLocal static var owner: (any BlockOwner)?
}

/// A context, whose blocks make changes.
protocol BlockOwner: AnyObject, Sendable {
    /// The manager with which the changes of a block are registered.
    var undoManager: UndoManager? { get }
}

extension NSNotification.Name {
    /// Posted before an undo manager opens a group within another one or closes a group, before it undoes or redoes,
    /// and when it is asked whether it can redo. Observers register the changes that they have not registered yet.
    public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")
    /// Posted before an undo.
    public static let NSUndoManagerWillUndoChange = NSNotification.Name("NSUndoManagerWillUndoChangeNotification")
    /// Posted after an undo.
    public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")
    /// Posted before a redo.
    public static let NSUndoManagerWillRedoChange = NSNotification.Name("NSUndoManagerWillRedoChangeNotification")
    /// Posted after a redo.
    public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
    /// Posted after a group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    /// Posted before a group is closed.
    public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
        "NSUndoManagerWillCloseUndoGroupNotification")
    /// Posted after a group was closed.
    public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name("NSUndoManagerDidCloseUndoGroupNotification")
}
