/// Finds a short history that breaks the same invariant.
package enum Shrinking {
    /// - Parameters:
    ///   - steps: a history that breaks an invariant.
    ///   - tries: how many runs it may take.
    ///   - breaks: runs a history, and says whether it breaks the invariant.
    /// - Returns: a part of the history that still does. If the tries were enough, no step of it can be left out.
    package static func shrink(_ steps: [Step], tries: Int, breaks: ([Step]) -> Bool) -> [Step] {
        var steps = steps
        var size = max(1, steps.count / 2)
        var left = tries
        while left > 0 {
            var hasShrunk = false
            var start = 0
            while start < steps.count, left > 0 {
                var shorter = steps
                shorter.removeSubrange(start..<min(start + size, steps.count))
                left -= 1
                if breaks(shorter) {
                    steps = shorter
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size == 1, !hasShrunk { break }
            if !hasShrunk || size > steps.count { size = max(1, size / 2) }
        }
        return steps
    }

    /// The shortest history found for parameters whose run breaks an invariant.
    package static func shortest(_ parameters: Parameters, _ result: RunResult, tries: Int = 400) -> [Step] {
        guard let violation = result.violation else { return [] }
        let steps = Array(Simulation.steps(of: parameters).prefix(result.done + 1))
        return shrink(steps, tries: tries) {
            Simulation.run(parameters, steps: $0).violation?.invariant == violation.invariant
        }
    }
}
