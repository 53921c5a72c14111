import Foundation

extension NSObject {
    /// The class that archives name for objects of this class.
    ///
    /// Objective-C has it as a method of the class, too, by which transformers are named after what they transform
    /// (CoreDataPlus does so); Foundation here has it of instances only.
    public static func classForCoder() -> AnyClass { self }
}
