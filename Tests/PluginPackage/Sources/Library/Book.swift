// swift-format-ignore-file
import CoreData

/// Codegen “Category/Extension”: the class by hand, its properties generated.
public class Book: NSManagedObject {
    /// The title in capital letters.
    public var loudTitle: String { (title ?? "").uppercased() }
}
