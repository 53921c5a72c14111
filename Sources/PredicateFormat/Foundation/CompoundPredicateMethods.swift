import Foundation

/// Gives Foundation's `NSCompoundPredicate` the methods that it lacks outside Apple's platforms.
///
/// Foundation's class inherits `predicateFormat`, `isEqual(_:)`, `hash` and `copy(with:)` from `NSPredicate(value:
/// false)`: it prints as FALSEPREDICATE, equals every other compound predicate, and its copy is FALSEPREDICATE.
/// Programs make compound predicates by Foundation's initializers, which do not allow a subclass, and a class of ours
/// with the same name would make the name ambiguous in every file that imports Foundation. So the four methods are
/// installed in the class itself, once.
enum CompoundPredicateMethods {
    /// Installs the methods. All code here that makes or reads predicates uses this first.
    static let install: Void = {
        guard let foundations = ClassMethods(of: NSCompoundPredicate.self),
            let plain = ClassMethods(of: PlainCompoundPredicate.self),
            let complete = ClassMethods(of: CompleteCompoundPredicate.self),
            plain.count == foundations.count, complete.count == foundations.count
        else { return }
        // Every subclass has its own initializers; other differences are the methods that the subclass overrides.
        for slot in 0..<foundations.count
        where complete[slot] != foundations[slot] && plain[slot] == foundations[slot] {
            foundations.set(complete[slot], at: slot)
        }
    }()
}

/// The methods of a class: the table in its metadata that calls go through.
///
/// Unsafe: reads and writes the metadata of a class, with the layout of Swift's runtime without Objective-C: superclass
/// in word 1, size and address point in word 4, methods from word 7 on. If these words are not as expected, there is no
/// table.
private struct ClassMethods {
    private let words: UnsafeMutablePointer<UInt>
    let count: Int

    private static let first = 7

    init?(of type: NSCompoundPredicate.Type) {
        words = unsafeBitCast(type, to: UnsafeMutablePointer<UInt>.self)
        let superclass: AnyClass = type == NSCompoundPredicate.self ? NSPredicate.self : NSCompoundPredicate.self
        let size = Int(UInt32(truncatingIfNeeded: words[4]))
        let addressPoint = Int(words[4] >> 32)
        guard words[1] == unsafeBitCast(superclass, to: UInt.self), addressPoint == 24, (100...10_000).contains(size)
        else { return nil }
        count = (size - addressPoint) / MemoryLayout<UInt>.size - ClassMethods.first
    }

    subscript(slot: Int) -> UInt { words[ClassMethods.first + slot] }

    func set(_ method: UInt, at slot: Int) { words[ClassMethods.first + slot] = method }
}

/// Overrides nothing.
private final class PlainCompoundPredicate: NSCompoundPredicate {}

/// Overrides what Foundation's class lacks. It has no properties, since its methods run on objects of Foundation's
/// class.
private final class CompleteCompoundPredicate: NSCompoundPredicate {
    override var predicateFormat: String { formatString }

    override var description: String { formatString }

    override func isEqual(_ object: Any?) -> Bool { says(theSameAs: object) }

    override var hash: Int { hashOfParts }

    override func copy(with zone: NSZone? = nil) -> Any {
        NSCompoundPredicate(type: compoundPredicateType, subpredicates: subpredicates)
    }
}

extension NSCompoundPredicate {
    fileprivate var formatString: String {
        if let tree = try? predicateTree(of: self) { return tree.shownFormat }
        // A predicate that contains code has no tree, and prints as its parts do.
        let word =
            switch compoundPredicateType {
            case .and: "AND"
            case .or: "OR"
            case .not: "NOT"
            @unknown default: "AND"
            }
        let parts = subpredicates.map { part in
            let text = part is NSComparisonPredicate ? "\(part)" : formatString(of: part)
            return part is NSCompoundPredicate ? "(\(text))" : text
        }
        return compoundPredicateType == .not ? "NOT " + parts.joined() : parts.joined(separator: " \(word) ")
    }

    private func formatString(of part: NSPredicate) -> String {
        if let compound = part as? NSCompoundPredicate { return compound.formatString }
        if let tree = try? predicateTree(of: part) { return tree.shownFormat }
        return "BLOCKPREDICATE"
    }

    fileprivate func says(theSameAs object: Any?) -> Bool {
        guard let other = object as? NSCompoundPredicate else { return false }
        if self === other { return true }
        if let tree = try? predicateTree(of: self) { return (try? predicateTree(of: other)) == tree }
        return compoundPredicateType == other.compoundPredicateType && subpredicates == other.subpredicates
    }

    fileprivate var hashOfParts: Int {
        if let tree = try? predicateTree(of: self) { return tree.hashValue }
        var hasher = Hasher()
        hasher.combine(compoundPredicateType)
        hasher.combine(subpredicates.count)
        return hasher.finalize()
    }
}
