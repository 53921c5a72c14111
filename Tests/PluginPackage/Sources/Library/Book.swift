// swift-format-ignore-file
import CoreData

/// Codegen “Category/Extension”: the class by hand, its properties generated.
public class Book: NSManagedObject {
    /// The title in capital letters.
    public var loudTitle: String { (title ?? "").uppercased() }

    /// Called by name, as a save checks the title.
    func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        if value.pointee as? String == "?" { throw CocoaError(.validationStringPatternMatching) }
    }
}
