import Foundation
import Ordering

/// Finds the module of the class that a model names.
///
/// On Apple's platforms a class may be in the “global namespace” of Objective-C (`@objc(Book)`). Here a class is found
/// at run time by module and name only, and so that is what the compiled model says.
package final class ClassFinder {
    private let target: TargetSources
    private let generatedClasses: Set<String>
    private lazy var own = ClassIndex(target.paths)
    /// Many models need no class of another module, whose sources may be many.
    private lazy var dependencies = target.dependencies.ordered { $0.key < $1.key }.map { module, folder in
        (module: module, classes: ClassIndex(TargetSources.swiftFiles(in: folder)).classes)
    }

    /// - Parameters:
    ///   - target: the module and its sources.
    ///   - generatedClasses: the classes of the target that no source declares.
    package init(target: TargetSources, generatedClasses: [String]) {
        self.target = target
        self.generatedClasses = Set(generatedClasses)
    }

    /// - Returns: `Module.Class`, or the name as it is: where it has a module already, where no source declares the
    ///   class, and where several modules do, since the name does not say which is meant.
    package func qualifiedName(of className: String) -> String {
        guard !className.contains("."), className != "NSManagedObject" else { return className }
        if generatedClasses.contains(className) || own.classes[className] != nil {
            return "\(target.moduleName).\(className)"
        }
        // The classes of Foundation are found by their names.
        if className.hasPrefix("NS"), NSClassFromString(className) != nil { return className }
        let found = dependencies.filter { $0.classes[className]?.isPublic == true }
        let inheriting = found.filter { $0.classes[className]?.inherits == true }
        let candidates = inheriting.isEmpty ? found : inheriting
        return candidates.count == 1 ? "\(candidates[0].module).\(className)" : className
    }
}
